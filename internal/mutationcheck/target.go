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
	"supervise/internal/mutantrun"
	"supervise/internal/mutation"
	"supervise/internal/regexp"
	"supervise/snapshot"
	"supervise/source"
)

// maxCodeFiles is how many files of code may have mutants; those nearest to the tests come first.
const maxCodeFiles = 200

// codeFile is a file of product code.
type codeFile struct {
	path     string
	exec     bool
	text     []byte
	masked   []string
	scan     source.File
	nearness int // how near it is to the tests, see nearnessOf; 0: they do not name it
}

// mutantPairs returns the mutants for the groups, in the order in which they run. old is the tree
// on whose code the original tests run. If it is the current tree, both sides have the same
// mutants; otherwise only mutants that exist in both trees count.
func (r *trialRun) mutantPairs(ctx context.Context, groups []*group, old snapshot.ID) ([]mutantPair, error) {
	var mentions mentions
	if err := mentions.read(ctx, r, groups); err != nil {
		return nil, err
	}
	current, err := r.mutants(ctx, r.Current, mentions)
	if err != nil {
		return nil, err
	}
	if old == r.Current {
		out := make([]mutantPair, len(current))
		for i, c := range current {
			out[i] = mutantPair{c, c}
		}
		return out, nil
	}
	previous, err := r.mutants(ctx, old, mentions)
	return pairMutants(previous, current), err
}

// minPairs is the number of common mutants below which two trees are too different to compare.
const minPairs = 3

// pairMutants returns the mutants that both lists have: the same operator changes the same text in
// a function of the same name. It returns nil if there are fewer than [minPairs].
func pairMutants(old, current []mutantrun.Mutant) []mutantPair {
	type key struct {
		function  string
		operator  mutation.Operator
		text, new string
	}
	keyOf := func(c mutantrun.Mutant) key { return key{lastWord(c.Function), c.Operator, c.Original, c.Mutated} }
	unpaired := map[key][]mutantrun.Mutant{}
	for _, c := range old {
		unpaired[keyOf(c)] = append(unpaired[keyOf(c)], c)
	}
	var out []mutantPair
	for _, c := range current {
		if l := unpaired[keyOf(c)]; len(l) > 0 {
			out, unpaired[keyOf(c)] = append(out, mutantPair{l[0], c}), l[1:]
		}
	}
	if len(out) < minPairs {
		return nil
	}
	return out
}

// mentions are the names that occur in the tests, by which the code under test is found.
type mentions struct {
	symbols map[string]bool // of the code: functions, methods, types
	words   map[string]bool // of the test files, imports included
	text    string          // of the test files
	dirs    map[string]bool // of the test files
	langs   map[source.Language]bool
}

// read fills m from both versions of the test files of the groups. A file that cannot be read is
// skipped; the error is that of ctx.
func (m *mentions) read(ctx context.Context, r *trialRun, groups []*group) error {
	*m = mentions{symbols: map[string]bool{}, words: map[string]bool{}, dirs: map[string]bool{}, langs: map[source.Language]bool{}}
	var texts strings.Builder
	for _, g := range groups {
		for _, d := range g.defs {
			m.addSymbols(d)
		}
		for _, name := range slices.Concat(g.oldFiles, g.newFiles) {
			m.dirs[path.Dir(name)] = true
			m.langs[languageFamily(source.DetectLanguage(name, nil))] = true
			for _, file := range []struct {
				id   snapshot.ID
				name string
			}{{r.Current, name}, {r.Base, r.Evidence.OldPath(name)}} {
				if text, err := r.Store.ReadFile(ctx, file.id, file.name); err == nil && len(text) <= evidence.MaxText {
					texts.Write(text)
				}
			}
		}
	}

	m.text = texts.String()
	for _, w := range wordRE.FindAllString(m.text, -1) {
		m.words[w] = true
	}

	return ctx.Err()
}

func (m *mentions) addSymbols(d detector.TestSource) {
	for _, s := range d.Def.Symbols {
		m.symbols[lastWord(s)] = true
	}
}

// wordRE matches an identifier.
var wordRE = regexp.MustCompile(`[A-Za-z_][\w$]*`)

// lastWord returns the last part of a qualified name: "total" of "Cart.total" or "Cart#total".
func lastWord(name string) string {
	if i := strings.LastIndexAny(name, ".:#"); i >= 0 {
		return name[i+1:]
	}
	return name
}

// languageFamily maps languages that call each other to one of them.
func languageFamily(l source.Language) source.Language {
	switch l {
	case source.TypeScript:
		return source.JavaScript
	case source.Kotlin, source.Scala:
		return source.Java
	default:
		return l
	}
}

// mutants returns the mutants of the code of a tree that the tests are about. Mutants of functions
// that the tests name come first, then those of functions that these call.
func (r *trialRun) mutants(ctx context.Context, id snapshot.ID, m mentions) ([]mutantrun.Mutant, error) {
	files, err := r.codeFiles(ctx, id, m)
	if err != nil {
		return nil, err
	}

	depth := reachableFunctions(files, m.symbols)
	var list []mutation.Mutant
	depths := map[mutation.Mutant]int{}
	byPath := map[string]*codeFile{}
	for _, f := range files {
		byPath[f.path] = f
		for _, x := range mutation.MutantsOf(f.path, f.text) {
			if d, ok := depth[functionID{f.path, x.Function}]; ok {
				list, depths[x] = append(list, x), d
			}
		}
	}

	slices.SortStableFunc(list, func(a, b mutation.Mutant) int { return cmp.Compare(depths[a], depths[b]) })
	var out []mutantrun.Mutant
	for _, x := range mutation.Sample(list, len(list)) {
		f := byPath[x.File]
		out = append(out, mutantrun.Mutant{Mutant: x, Source: f.text, Executable: f.exec})
	}

	return out, nil
}

// codeFiles reads the product code in a tree that the tests may be about: the files that the tests
// name, nearest first, or if they name none, all files in their languages.
func (r *trialRun) codeFiles(ctx context.Context, id snapshot.ID, m mentions) ([]*codeFile, error) {
	all, err := r.Store.Files(id)
	if err != nil {
		return nil, err
	}

	var list []*codeFile
	for _, f := range all {
		lang := source.DetectLanguage(f.Path, nil)
		if lang == source.Unknown || !m.langs[languageFamily(lang)] || !f.Mode.IsRegular() || f.Size > evidence.MaxText || !m.isProduct(f.Path) {
			continue
		}
		list = append(list, &codeFile{path: f.Path, exec: f.Mode&0o100 != 0, nearness: m.nearnessOf(f.Path, lang)})
	}

	addPackages(list)
	slices.SortStableFunc(list, func(a, b *codeFile) int { return cmp.Compare(b.nearness, a.nearness) })
	if i := slices.IndexFunc(list, func(c *codeFile) bool { return c.nearness == 0 }); i > 0 {
		list = list[:i]
	}
	list = list[:min(len(list), maxCodeFiles)]
	files0 := list[:0]
	for _, c := range list {
		if c.text, err = r.Store.ReadFile(ctx, id, c.path); err != nil {
			return nil, err
		}
		if source.IsGenerated(c.path, c.text[:min(len(c.text), 8192)]) {
			continue
		}
		if c.scan, err = source.Scan(c.path, c.text); err == nil {
			c.masked = strings.Split(string(source.Mask(c.scan.Language, c.text)), "\n")
			files0 = append(files0, c)
		}
	}

	return files0, nil
}

// addPackages sets the nearness of files whose package the tests name: its main file may only pass on
// what they define.
func addPackages(list []*codeFile) {
	named := map[string]bool{}
	for _, c := range list {
		if c.nearness > 0 && isMainFile(c.path) {
			named[path.Dir(c.path)] = true
		}
	}
	for _, c := range list {
		for dir := path.Dir(c.path); c.nearness == 0 && dir != "."; dir = path.Dir(dir) {
			if named[dir] {
				c.nearness = 1
			}
		}
	}
}

// isMainFile reports whether a file is the one that an import of its folder reads.
func isMainFile(name string) bool {
	switch strings.TrimSuffix(path.Base(name), path.Ext(name)) {
	case "__init__", "index", "mod", "lib", "main":
		return true
	}
	return false
}

// toolConfigRE matches the paths of code that only configures tools: setup.py, web/vite.config.ts.
var toolConfigRE = regexp.MustCompile(`(^|/)(setup\.py|noxfile\.py|tasks\.py|manage\.py|conf\.py|[\w.-]+\.config\.[mc]?[jt]s|\.eslintrc\.[mc]?js|[\w.-]+\.d\.ts|build\.rs|[gG]runtfile\.js|gulpfile\.js)$`)

// exampleFolderRE matches folders whose code shows or measures the product: docs, pkg/benchmarks.
var exampleFolderRE = regexp.MustCompile(`(^|/)(examples?|demos?|docs?|bench(es|marks?)?)(/|$)`)

// isProduct reports whether a file is code of the product. Tests, dependencies and configuration
// are not, nor is a folder of examples that the tests do not name.
func (m mentions) isProduct(name string) bool {
	if integrity.BelongsToTests(name) || source.IsVendored(name) || toolConfigRE.MatchString(name) {
		return false
	}
	dir := path.Dir(name)
	return !exampleFolderRE.MatchString(dir) || strings.Contains(m.text, dir) || m.dirs[dir]
}

// nearnessOf returns how near a file of code is to the tests: 3 in the same Go package, 2 if they
// name the file or import its package, 1 for the main file of a source folder, otherwise 0.
func (m mentions) nearnessOf(name string, lang source.Language) int {
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
	if isMainFile(name) {
		if stem = path.Base(dir); stem == "src" || stem == "." || stem == "lib" {
			return 1
		}
	}
	if m.words[stem] || strings.Contains(stem, "-") && strings.Contains(m.text, stem) {
		return 2
	}
	return 0
}

// functionID identifies a function of a file. The function "" is the code outside of functions.
type functionID struct{ file, function string }

// maxCallDepth is how many calls away from the tests a function may be.
const maxCallDepth = 2

// reachableFunctions returns the functions that the tests probably call, with the number of calls
// in between. Depth 0 are the functions with one of the names, depth 1 those whose names occur in
// the bodies of depth 0, and so on. If no function has one of the names, it returns all
// functions with depth 0.
func reachableFunctions(files []*codeFile, names map[string]bool) map[functionID]int {
	out := map[functionID]int{}
	for depth := 0; depth <= maxCallDepth && len(names) > 0; depth++ {
		next := map[string]bool{}
		for _, f := range files {
			for _, fn := range f.scan.Functions {
				fn0 := functionID{f.path, fn.Name}
				if _, known := out[fn0]; known || !f.hasName(fn.Name, names) {
					continue
				}
				out[fn0] = depth
				if _, known := out[functionID{f.path, ""}]; !known {
					out[functionID{f.path, ""}] = depth
				}
				for _, line := range f.masked[min(fn.Line, len(f.masked)):min(fn.End, len(f.masked))] {
					for _, w := range wordRE.FindAllString(line, -1) {
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
		out[functionID{f.path, ""}] = 0
		for _, fn := range f.scan.Functions {
			out[functionID{f.path, fn.Name}] = 0
		}
	}

	return out
}

// constructors are the names of functions that are called by the name of their type.
var constructors = map[string]bool{"__init__": true, "constructor": true, "initialize": true, "__construct": true, "__post_init__": true}

// hasName reports whether a function has one of the names, or is a constructor in a file with a
// class of such a name.
func (u *codeFile) hasName(function string, names map[string]bool) bool {
	short := lastWord(function)
	if names[short] {
		return true
	}
	if !constructors[short] {
		return false
	}
	for _, line := range u.masked {
		if m := classHeadRE.FindStringSubmatch(line); m != nil && names[m[1]] {
			return true
		}
	}
	return false
}

// classHeadRE matches the head of a class and captures its name: Cart of "class Cart(Base):".
var classHeadRE = regexp.MustCompile(`\bclass\s+(\w+)`)
