package framework

import (
	"slices"
	"strings"
)

// Effect is what an option does to a run of tests or of a linter.
type Effect uint8

// The effects.
const (
	Focus     Effect = iota // selects tests
	Exclude                 // leaves tests out
	StopEarly               // ends the run at a failure
	RunNone                 // runs no test at all
	Update                  // rewrites what is expected
	Loosen                  // retries, or waits longer
	Mask                    // makes a failure count for nothing
	HideCode                // leaves code out of the coverage
	Config                  // reads another configuration, or sets values of it
	Allow                   // turns rules of a linter off
	neutral                 // none of these, and takes a value
	effects                 // how many there are
)

var effectNames = [...]string{"focus", "exclude", "stop early", "run none", "update", "loosen", "mask", "hide code", "configure", "allow", "neutral"}

func (e Effect) String() string { return effectNames[e] }

// Options are the options of a program by their effect: names separated by blanks.
//
//	--lf            takes no value
//	--maxfail=      takes a value, after "=" or in the next word
//	-only-testing:  takes a value after ":"
//	--bail[=]       may have a value, after "=" only
//	--coverage=off  has the effect with this value only
//	--tag=~*        has the effect with values that begin so
//
// A spelling with a value has precedence over the same option without one.
type Options struct {
	Focus, Exclude, StopEarly, RunNone, Update, Loosen, Mask, HideCode, Config, Allow string

	Neutral string // others that take a value: their value is no option

	Lacks []Effect // no option of the program has these effects
}

func (o Options) byEffect() [effects]string {
	return [effects]string{o.Focus, o.Exclude, o.StopEarly, o.RunNone, o.Update, o.Loosen, o.Mask, o.HideCode, o.Config, o.Allow, o.Neutral}
}

// missingEffects are the effects without options. Allow is for linters only.
func (o Options) missingEffects() []Effect {
	var out []Effect
	for e, names := range o.byEffect() {
		if names == "" && Effect(e) != neutral && Effect(e) != Allow && !slices.Contains(o.Lacks, Effect(e)) {
			out = append(out, Effect(e))
		}
	}
	return out
}

// mergedWith returns the options, with missing effects taken from others.
func (o Options) mergedWith(other Options) Options {
	lacks := o.Lacks
	for e, own := range []*string{&o.Focus, &o.Exclude, &o.StopEarly, &o.RunNone, &o.Update, &o.Loosen, &o.Mask, &o.HideCode, &o.Config, &o.Allow, &o.Neutral} {
		switch {
		case *own != "" || slices.Contains(lacks, Effect(e)):
		case slices.Contains(other.Lacks, Effect(e)):
			o.Lacks = append(slices.Clip(o.Lacks), Effect(e))
		default:
			*own = other.byEffect()[e]
		}
	}
	return o
}

// Style is how the options of a program are written.
type Style uint8

// The styles.
const (
	Plain   Style = iota // as in the table
	Bundled              // short options may share one dash: -xvs
	CamelOK              // --testNamePattern may be --test-name-pattern; short options may share one dash
	OneDash              // --run may be -run or -test.run, as in Go
)

// option is one option in its table.
type option struct {
	effect     Effect
	value      string // the only value with which it has the effect; "" for any
	takesValue bool   // a value may be the next word
}

// index has the options by their name, in a style.
type index struct {
	style  Style
	byName map[string][]option
}

func (o Options) index(style Style) index {
	x := index{style, map[string][]option{}}
	for e, names := range o.byEffect() {
		for _, spelling := range strings.Fields(names) {
			opt := option{effect: Effect(e)}
			name := strings.TrimSuffix(spelling, "[=]")
			if at := strings.IndexAny(name, "=:"); at > 0 && name == spelling {
				opt.value, opt.takesValue = name[at+1:], true
				name = name[:at]
			}
			name = x.canonical(name)
			x.byName[name] = append(x.byName[name], opt)
		}
	}
	return x
}

// canonical is the spelling of a name in the index.
func (x index) canonical(name string) string {
	switch {
	case x.style == OneDash && strings.HasPrefix(name, "-"):
		name = "-" + strings.TrimPrefix(strings.TrimLeft(name, "-"), "test.")
	case x.style == CamelOK && strings.HasPrefix(name, "--"):
		name = "--" + strings.ToLower(strings.ReplaceAll(name[2:], "-", ""))
	}
	return name
}

// Use is an option with an effect in a call.
type Use struct {
	Effect Effect
	Name   string // as it is written: "--ignore"
	Value  string // "" if it has none
	At     int    // the index of its word
}

// findUses finds the options among the arguments of a call that have an effect.
func (x index) findUses(args []string) []Use {
	var out []Use
	for i := 0; i < len(args); i++ {
		name, value, given := splitOption(args[i])
		next := ""
		if !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			next = args[i+1]
		}
		found, took := x.effectsOf(name, value, next, given)
		if took {
			value = next
		}
		for _, e := range found {
			out = append(out, Use{e, name, value, i})
		}
		if !took && len(found) == 0 {
			out = append(out, x.bundledUses(args[i], i)...)
		}
		if took {
			i++
		}
	}
	return slices.DeleteFunc(out, func(u Use) bool { return u.Effect == neutral })
}

// splitOption divides an argument into the name of the option and its value.
func splitOption(arg string) (name, value string, hasValue bool) {
	if at := strings.IndexAny(arg, "=:"); at > 0 {
		return arg[:at], arg[at+1:], true
	}
	return arg, "", false
}

// effectsOf are the effects of an option. next is the next word, and usedNext whether that is the
// value of the option.
func (x index) effectsOf(name, value, next string, given bool) (out []Effect, usedNext bool) {
	var general []Effect
	for _, o := range x.byName[x.canonical(name)] {
		v := value
		if o.takesValue && !given {
			v, usedNext = next, usedNext || next != ""
		}
		switch {
		case o.value == "" && !o.isOff(v):
			general = append(general, o.effect)
		case o.value != "" && (o.value == v || strings.HasSuffix(o.value, "*") && strings.HasPrefix(v, strings.TrimSuffix(o.value, "*"))):
			out = append(out, o.effect)
		}
	}
	if out == nil {
		return general, usedNext
	}
	return out, usedNext
}

// isOff reports whether a value turns the option off, as --bail=0 does.
func (o option) isOff(value string) bool {
	switch o.effect {
	case Focus, Exclude, HideCode, Config, Allow:
		return !o.takesValue && value == "false"
	case Loosen, neutral, effects:
		return false
	case StopEarly, RunNone, Update, Mask:
	}
	return value == "false" || value == "0"
}

// bundledUses finds options in a word such as -xvs, or -kname, in which the value follows the
// letter.
func (x index) bundledUses(arg string, at int) (out []Use) {
	if x.style != Bundled && x.style != CamelOK || len(arg) < 3 || arg[0] != '-' || arg[1] == '-' {
		return nil
	}
	for i := 1; i < len(arg); i++ {
		letter := "-" + arg[i:i+1]
		for _, o := range x.byName[letter] {
			switch {
			case o.value != "":
			case o.takesValue:
				return append(out, Use{o.effect, letter, arg[i+1:], at})
			default:
				out = append(out, Use{o.effect, letter, "", at})
			}
		}
	}
	return out
}

// takesValue reports whether the value of an option is the next word.
func (x index) takesValue(word string) bool {
	name, _, given := splitOption(word)
	return !given && slices.ContainsFunc(x.byName[x.canonical(name)], func(o option) bool { return o.takesValue })
}

// Spellings are the options with the effect, written as in [Options].
func (o Options) Spellings(e Effect) []string {
	return strings.Fields(o.byEffect()[e])
}

// WithoutOptions removes options and their values from the words of a command. options are written
// as in [Options].
func WithoutOptions(words, options []string) []string {
	takes := valueOptions(options)
	var out []string
	for i := 0; i < len(words); i++ {
		name, _, inline := strings.Cut(words[i], "=")
		switch value, ok := takes[name]; {
		case !ok:
			out = append(out, words[i])
		case value && !inline:
			i++
		}
	}
	return out
}

// LeadingOptions divides the words after a program at the first operand: "report" and "x" of
// "--all --exclude test report x". It returns the options that are in keep, each as one word,
// and the operands. others are options whose values must not be taken for an operand. Both are
// written as in [Options].
func LeadingOptions(words, keep, others []string) (kept, operands []string) {
	takes, known := valueOptions(slices.Concat(others, keep)), valueOptions(keep)
	for i := 0; i < len(words); i++ {
		word := words[i]
		name, _, inline := strings.Cut(word, "=")
		switch {
		case word == "--":
			return kept, words[i+1:]
		case !strings.HasPrefix(word, "-"):
			return kept, words[i:]
		case takes[name] && !inline && i+1 < len(words):
			i++
			word += "=" + words[i]
		}
		if _, ok := known[name]; ok {
			kept = append(kept, word)
		}
	}
	return kept, nil
}

// KeptArgs are the operands of a call of the framework and its options that are in Keep.
func (f *Framework) KeptArgs(args []string) []string {
	takes := valueOptions(f.Keep)
	var out []string
	for i := 0; i < len(args); i++ {
		name, _, inline := strings.Cut(args[i], "=")
		value, isKept := takes[name]
		words := args[i : i+1]
		if !inline && i+1 < len(args) && (value || !isKept && f.index.takesValue(args[i])) {
			words = args[i : i+2]
			i++
		}
		if isKept || !strings.HasPrefix(words[0], "-") {
			out = append(out, words...)
		}
	}
	return out
}

// valueOptions has for each option whether it takes a value.
func valueOptions(options []string) map[string]bool {
	out := map[string]bool{}
	for _, o := range options {
		name, value := strings.CutSuffix(o, "=")
		out[name] = value
	}
	return out
}
