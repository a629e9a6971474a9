package mutationcheck

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/mutation"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// maxCode is how many files of code are looked at, nearest first.
const maxCode = 200

// unit is a file of product code.
type unit struct {
	path   string
	exec   bool
	text   []byte
	masked []string
	scan   source.File
	near   int // how near it is to the tests; 0: they do not name it
}

// pairs returns the faults for the groups, in the order in which they are run. Without
// other code they are the same on both sides; else those that both sides have.
func (r *trialRun) pairs(ctx context.Context, groups []*group, old snapshot.ID) ([]pair, error) {
	var mentions mentioned
	if err := mentions.read(ctx, r, groups); err != nil {
		return nil, err
	}
	is, err := r.faults(ctx, r.Current, mentions)
	if err != nil {
		return nil, err
	}
	if old == r.Current {
		out := make([]pair, len(is))
		for i, c := range is {
			out[i] = pair{c, c}
		}
		return out, nil
	}
	was, err := r.faults(ctx, old, mentions)
	return paired(was, is), err
}

// minPaired is how many faults both sides need to have.
const minPaired = 3

// paired returns the faults that are the same in both: the same operator in the same
// line of a function of that name.
func paired(was, is []change) []pair {
	type key struct {
		function  string
		operator  mutation.Operator
		text, new string
	}
	of := func(c change) key { return key{lastWord(c.Function), c.Operator, c.Original, c.Mutated} }
	left := map[key][]change{}
	for _, c := range was {
		left[of(c)] = append(left[of(c)], c)
	}
	var out []pair
	for _, c := range is {
		if l := left[of(c)]; len(l) > 0 {
			out, left[of(c)] = append(out, pair{l[0], c}), l[1:]
		}
	}
	if len(out) < minPaired {
		return nil
	}
	return out
}

// mentioned is what the tests name.
type mentioned struct {
	symbols map[string]bool // of the code: functions, methods, types
	words   map[string]bool // of the test files, imports included
	text    string          // of the test files
	dirs    map[string]bool // of the test files
	langs   map[source.Language]bool
}

func (m *mentioned) read(ctx context.Context, r *trialRun, groups []*group) error {
	*m = mentioned{symbols: map[string]bool{}, words: map[string]bool{}, dirs: map[string]bool{}, langs: map[source.Language]bool{}}
	var texts strings.Builder
	for _, g := range groups {
		for _, d := range g.defs {
			m.symbol(d)
		}
		for _, name := range slices.Concat(g.old, g.is) {
			m.dirs[path.Dir(name)] = true
			m.langs[family(source.DetectLanguage(name, nil))] = true
			for _, at := range []struct {
				id   snapshot.ID
				name string
			}{{r.Current, name}, {r.Base, r.oldPath(name)}} {
				if text, err := r.Store.ReadFile(ctx, at.id, at.name); err == nil && len(text) <= evidence.MaxText {
					texts.Write(text)
				}
			}
		}
	}
	m.text = texts.String()
	for _, w := range word.FindAllString(m.text, -1) {
		m.words[w] = true
	}
	return ctx.Err()
}

func (m *mentioned) symbol(d detector.TestSource) {
	for _, s := range d.Def.Symbols {
		m.symbols[lastWord(s)] = true
	}
}

var word = regexp.MustCompile(`[A-Za-z_][\w$]*`)

// lastWord is the last part of a qualified name.
func lastWord(name string) string {
	if i := strings.LastIndexAny(name, ".:#"); i >= 0 {
		return name[i+1:]
	}
	return name
}

// family maps languages that call each other to one of them.
func family(l source.Language) source.Language {
	switch l {
	case source.TypeScript:
		return source.JavaScript
	case source.Kotlin, source.Scala:
		return source.Java
	default:
		return l
	}
}

// faults returns the mutants of the code of a tree that the tests are about, those of
// functions that the tests name first.
func (r *trialRun) faults(ctx context.Context, id snapshot.ID, m mentioned) ([]change, error) {
	files, err := r.codeOf(ctx, id, m)
	if err != nil {
		return nil, err
	}
	depth := reached(files, m.symbols)
	var list []mutation.Mutant
	at := map[mutation.Mutant]int{}
	byPath := map[string]*unit{}
	for _, f := range files {
		hit := r.executed(f.path, id)
		byPath[f.path] = f
		for _, x := range mutation.MutantsOf(f.path, f.text) {
			d, ok := depth[place{f.path, x.Function}]
			if ok && hit(x.Line) {
				list, at[x] = append(list, x), d
			}
		}
	}
	slices.SortStableFunc(list, func(a, b mutation.Mutant) int { return cmp.Compare(at[a], at[b]) })
	var out []change
	for _, x := range mutation.Sample(list, len(list)) {
		f := byPath[x.File]
		out = append(out, change{x, f.text, f.exec})
	}
	return out, nil
}

// codeOf reads the files of code in a tree that the tests may be about: those that they
// name, or where there are none, the nearest.
func (r *trialRun) codeOf(ctx context.Context, id snapshot.ID, m mentioned) ([]*unit, error) {
	all, err := r.Store.Files(id)
	if err != nil {
		return nil, err
	}
	var list []*unit
	for _, f := range all {
		lang := source.DetectLanguage(f.Path, nil)
		if lang == source.Unknown || !m.langs[family(lang)] || !f.Mode.IsRegular() || f.Size > evidence.MaxText || !m.product(f.Path) {
			continue
		}
		list = append(list, &unit{path: f.Path, exec: f.Mode&0o100 != 0, near: m.near(f.Path, lang)})
	}
	slices.SortStableFunc(list, func(a, b *unit) int { return cmp.Compare(b.near, a.near) })
	if i := slices.IndexFunc(list, func(c *unit) bool { return c.near == 0 }); i > 0 {
		list = list[:i]
	}
	list = list[:min(len(list), maxCode)]
	kept := list[:0]
	for _, c := range list {
		if c.text, err = r.Store.ReadFile(ctx, id, c.path); err != nil {
			return nil, err
		}
		if source.IsGenerated(c.path, c.text[:min(len(c.text), 8192)]) {
			continue
		}
		if c.scan, err = source.Scan(c.path, c.text); err == nil {
			c.masked = strings.Split(string(source.Mask(c.scan.Language, c.text)), "\n")
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// configures matches code that sets up tools.
var configures = regexp.MustCompile(`(^|/)(setup\.py|noxfile\.py|tasks\.py|manage\.py|conf\.py|[\w.-]+\.config\.[mc]?[jt]s|\.eslintrc\.[mc]?js|[\w.-]+\.d\.ts|build\.rs|[gG]runtfile\.js|gulpfile\.js)$`)

// shows matches folders of code that shows or measures the product.
var shows = regexp.MustCompile(`(^|/)(examples?|demos?|docs?|bench(es|marks?)?)(/|$)`)

// product reports whether a file is of the product: not of its tests, its tools, or a
// folder beside it that the tests do not name.
func (m mentioned) product(name string) bool {
	if integrity.BelongsToTests(name) || source.IsVendored(name) || configures.MatchString(name) {
		return false
	}
	dir := path.Dir(name)
	return !shows.MatchString(dir) || strings.Contains(m.text, dir) || m.dirs[dir]
}

// near says how near a file of code is to the tests: 0 where they name neither it nor
// its package.
func (m mentioned) near(name string, lang source.Language) int {
	dir := path.Dir(name)
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if lang == source.Go {
		switch {
		case m.dirs[dir]:
			return 3
		case m.words[path.Base(dir)] && strings.Contains(m.text, dir+`"`):
			return 2
		}
		return 0
	}
	switch stem {
	case "__init__", "index", "mod", "lib", "main":
		if stem = path.Base(dir); stem == "src" || stem == "." || stem == "lib" {
			return 1
		}
	}
	if m.words[stem] || strings.Contains(stem, "-") && strings.Contains(m.text, stem) {
		return 2
	}
	return 0
}

// place is a function of a file; "" is what is outside of functions.
type place struct{ file, function string }

// maxReach is over how many calls functions are followed.
const maxReach = 2

// reached returns the functions that the names reach, with the number of calls in
// between: those of that name, and those whose names are in the bodies of these. Where
// there is none, it is all of them.
func reached(files []*unit, names map[string]bool) map[place]int {
	out := map[place]int{}
	for depth := 0; depth <= maxReach && len(names) > 0; depth++ {
		next := map[string]bool{}
		for _, f := range files {
			for _, fn := range f.scan.Functions {
				at := place{f.path, fn.Name}
				if _, known := out[at]; known || !f.named(fn.Name, names) {
					continue
				}
				out[at] = depth
				if _, known := out[place{f.path, ""}]; !known {
					out[place{f.path, ""}] = depth
				}
				for _, line := range f.masked[min(fn.Line, len(f.masked)):min(fn.End, len(f.masked))] {
					for _, w := range word.FindAllString(line, -1) {
						next[w] = true
					}
				}
			}
		}
		names = next
	}
	if len(out) > 0 {
		return out
	}
	for _, f := range files {
		out[place{f.path, ""}] = 0
		for _, fn := range f.scan.Functions {
			out[place{f.path, fn.Name}] = 0
		}
	}
	return out
}

// constructors are the names of functions that are called by the name of their type.
var constructors = map[string]bool{"__init__": true, "constructor": true, "initialize": true, "__construct": true, "__post_init__": true}

// named reports whether a function has one of the names, or makes a type of that name.
func (u *unit) named(function string, names map[string]bool) bool {
	short := lastWord(function)
	if names[short] {
		return true
	}
	if !constructors[short] {
		return false
	}
	for _, line := range u.masked {
		if m := typeHead.FindStringSubmatch(line); m != nil && names[m[1]] {
			return true
		}
	}
	return false
}

var typeHead = regexp.MustCompile(`\bclass\s+(\w+)`)

// executed returns whether the tests execute a line of a file, as far as the coverage
// of the new tree says.
func (r *trialRun) executed(name string, id snapshot.ID) func(int) bool {
	all := func(int) bool { return true }
	if r.Coverage == nil || id != r.Current {
		return all
	}
	for _, f := range r.Coverage.Files {
		if len(f.Hit) == 0 || f.Path != name && !strings.HasSuffix(f.Path, "/"+name) && !strings.HasSuffix(name, "/"+f.Path) {
			continue
		}
		return func(line int) bool {
			return slices.ContainsFunc(f.Hit, func(s metric.Span) bool { return s.First <= line && line <= s.Last })
		}
	}
	return all
}
