package framework

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Effect is what an option does to a run of tests or of a linter.
type Effect uint8

// The effects of an option. One option may have several.
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
	Neutral                 // none of these, and takes a value
	effects                 // how many there are
)

var effectNames = [...]string{"focus", "exclude", "stop early", "run none", "update", "loosen", "mask", "hide code", "configure", "allow", "neutral"}

// String returns the name of the effect, as in "stop early".
func (e Effect) String() string { return effectNames[e] }

// Options are the options of a program by their effect: the spellings of all options with the
// effect, separated by blanks. A spelling says how the option takes a value:
//
//	--lf            takes no value
//	--maxfail=      takes a value, after "=" or in the next word
//	-only-testing:  takes a value after ":"
//	--bail[=]       may have a value, after "=" only
//	--coverage=off  has the effect with this value only
//	--tag=~*        has the effect with values that begin with ~
//	list            is a word without a dash, such as a subcommand
//	TEST=           is the assignment of a variable in the call
//
// A spelling with a value has precedence over the same option without one: with "--collect=none"
// under HideCode and "--collect=" under Neutral, only --collect=none hides code.
//
// An effect that no option of the program has is [none]. Neutral are the other options that take a
// value. They are listed so that their value is not taken for an option or an operand.
type Options map[Effect]string

// none says that the program has no option with the effect.
const none = " "

// missingEffects returns the effects for which a row has neither options nor [none]. Allow is for
// linters only, and does not count.
func (o Options) missingEffects() []Effect {
	var out []Effect
	for e := range effects {
		if o[e] == "" && e != Neutral && e != Allow {
			out = append(out, e)
		}
	}
	return out
}

// mergedWith returns the options, with the effects that they do not mention taken from other.
func (o Options) mergedWith(other Options) Options {
	out := maps.Clone(other)
	maps.Copy(out, o)
	return out
}

// Style is how the options of a program are written.
type Style uint8

// The styles in which programs take options.
const (
	Plain   Style = iota // as in the table
	Bundled              // short options may share one dash: -xvs
	CamelOK              // --testNamePattern may be --test-name-pattern; short options may share one dash
	OneDash              // --run may be -run or -test.run, as in Go
)

// option is what one spelling says about an option.
type option struct {
	effect     Effect
	value      string // the only value with which it has the effect; "" for any
	takesValue bool   // a value may be the next word
}

// index has what the spellings say by the canonical names of the options. One name may have several
// entries, for several values or effects. It is built at its first use, because most runs of the
// program need the options of few others, or none.
type index struct {
	style  Style
	byName func() map[string][]option
}

// index returns the index of the options of a program that are written in a style.
func (o Options) index(style Style) index {
	return index{style, sync.OnceValue(func() map[string][]option { return o.byName(style) })}
}

// byName returns the options by their canonical names in a style.
func (o Options) byName(style Style) map[string][]option {
	out := map[string][]option{}
	for e := range effects {
		for spelling := range strings.FieldsSeq(o[e]) {
			opt := option{effect: e}
			name := strings.TrimSuffix(spelling, "[=]")
			if at := strings.IndexAny(name, "=:"); at > 0 && name == spelling {
				opt.value, opt.takesValue = name[at+1:], true
				name = name[:at]
			}
			name = style.canonical(name)
			out[name] = append(out[name], opt)
		}
	}
	return out
}

// canonical returns the spelling of a name in an [index], where the style allows several: "-run" for
// "--test.run" in the style of Go.
func (s Style) canonical(name string) string {
	switch {
	case s == OneDash && strings.HasPrefix(name, "-"):
		name = "-" + strings.TrimPrefix(strings.TrimLeft(name, "-"), "test.")
	case s == CamelOK && strings.HasPrefix(name, "--"):
		name = "--" + strings.ToLower(strings.ReplaceAll(name[2:], "-", ""))
	}
	return name
}

// options returns what the spellings say about an option. It is nil for an unknown option.
func (x index) options(name string) []option {
	if x.byName == nil {
		return nil
	}
	return x.byName()[x.style.canonical(name)]
}

// Use is an option with an effect in a call.
type Use struct {
	Effect Effect
	Name   string // as it is written: "--ignore"
	Value  string // "" if it has none
	At     int    // the index of its word
}

// findUses returns the options among the arguments of a call that have an effect, in order. Neutral
// options are left out.
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
	return slices.DeleteFunc(out, func(u Use) bool { return u.Effect == Neutral })
}

// splitOption divides an argument at the first "=" or ":" into the name of the option and its
// value: "--bail" and "1" for "--bail=1".
func splitOption(arg string) (name, value string, hasValue bool) {
	if at := strings.IndexAny(arg, "=:"); at > 0 {
		return arg[:at], arg[at+1:], true
	}
	return arg, "", false
}

// effectsOf returns the effects of an option. value is what its word contains, which counts if
// given; next is the word after it, "" if that cannot be a value. usedNext says that next is the
// value of the option.
func (x index) effectsOf(name, value, next string, given bool) (out []Effect, usedNext bool) {
	var general []Effect
	for _, o := range x.options(name) {
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

// isOff reports whether a value turns the option off, as --bail=0 and --bail=false do.
func (o option) isOff(value string) bool {
	switch o.effect {
	case Focus, Exclude, HideCode, Config, Allow:
		return !o.takesValue && value == "false"
	case Loosen, Neutral, effects:
		return false
	case StopEarly, RunNone, Update, Mask:
	}
	return value == "false" || value == "0"
}

// bundledUses returns the options in a word of short ones, such as -xvs. The letters after an
// option that takes a value are that value, as in -kname. It returns nil where the style has no
// such words.
func (x index) bundledUses(arg string, at int) (out []Use) {
	if x.style != Bundled && x.style != CamelOK || len(arg) < 3 || arg[0] != '-' || arg[1] == '-' {
		return nil
	}
	for i := 1; i < len(arg); i++ {
		letter := "-" + arg[i:i+1]
		for _, o := range x.options(letter) {
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

// takesValue reports whether a word is an option whose value is the next word.
func (x index) takesValue(word string) bool {
	name, _, given := splitOption(word)
	return !given && slices.ContainsFunc(x.options(name), func(o option) bool { return o.takesValue })
}

// Spellings returns the options with the effect, written as in [Options].
func (o Options) Spellings(e Effect) []string {
	return strings.Fields(o[e])
}

// argument is an operand, or an option with its value.
type argument struct {
	name  string   // the word, up to "=": "--exclude" for "--exclude=test"
	words []string // the word and, if its value is the next one, that word, too
	at    int      // the index of the word
}

// splitArguments divides the arguments of a call. takesValue reports whether the value of an option is
// the next word, unless it follows after "=".
func splitArguments(words []string, takesValue func(option string) bool) []argument {
	var out []argument
	for i := 0; i < len(words); i++ {
		name, _, inline := strings.Cut(words[i], "=")
		a := argument{name, words[i : i+1], i}
		if !inline && i+1 < len(words) && takesValue(words[i]) {
			a.words = words[i : i+2]
			i++
		}
		out = append(out, a)
	}
	return out
}

// WithoutOptions returns the words of a command without some options and their values. options are
// written as in [Options].
func WithoutOptions(words, options []string) []string {
	removed := valueOptions(options)
	var out []string
	for _, a := range splitArguments(words, func(option string) bool { return removed[option] }) {
		if _, isRemoved := removed[a.name]; !isRemoved {
			out = append(out, a.words...)
		}
	}
	return out
}

// LeadingOptions divides the words after a program at the first operand: "report" and "x" of
// "--all --exclude test report x". It returns the options that are in keep, each as one word,
// and the operands. others are options whose values must not be taken for an operand. Both are
// written as in [Options].
func LeadingOptions(words, keep, others []string) (kept, operands []string) {
	all, wanted := valueOptions(slices.Concat(others, keep)), valueOptions(keep)
	for _, a := range splitArguments(words, func(option string) bool { return all[option] }) {
		switch _, isWanted := wanted[a.name]; {
		case a.name == "--":
			return kept, words[a.at+1:]
		case !strings.HasPrefix(a.name, "-"):
			return kept, words[a.at:]
		case isWanted:
			kept = append(kept, strings.Join(a.words, "="))
		}
	}
	return kept, nil
}

// KeptArgs returns the arguments of a call of the framework that select tests: its operands, and
// the options that are in Keep, with their values.
func (f *Framework) KeptArgs(args []string) []string {
	wanted := valueOptions(f.Keep)
	takesValue := func(option string) bool {
		value, isWanted := wanted[option]
		return value || !isWanted && f.index.takesValue(option)
	}
	var out []string
	for _, a := range splitArguments(args, takesValue) {
		if _, isWanted := wanted[a.name]; isWanted || !strings.HasPrefix(a.name, "-") {
			out = append(out, a.words...)
		}
	}
	return out
}

// valueOptions returns, for the name of each option, whether it takes a value.
func valueOptions(options []string) map[string]bool {
	out := map[string]bool{}
	for _, o := range options {
		name, value := strings.CutSuffix(o, "=")
		out[name] = value
	}
	return out
}
