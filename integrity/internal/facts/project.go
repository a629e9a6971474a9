package facts

import (
	"cmp"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"supervise/source"
)

// InspectionCache reads source files, each once, for all callers. It may be used from several
// goroutines. The texts, and what it returns, are shared and must not be changed.
type InspectionCache struct {
	mu          sync.Mutex
	inspections map[textKey]func() source.Inspection
}

// textKey identifies a text by its address and size, because comparing texts would take too long.
type textKey struct {
	path  string
	first *byte
	size  int
}

// Inspect returns what is in a source file. A file that does not parse is read up to the mistake. A
// nil cache stores nothing.
func (t *InspectionCache) Inspect(path string, text []byte) source.Inspection {
	read := func() source.Inspection {
		in, _ := source.Inspect(path, text)
		return in
	}
	if t == nil || len(text) == 0 {
		return read()
	}
	key := textKey{path, &text[0], len(text)}
	t.mu.Lock()
	if t.inspections == nil {
		t.inspections = map[textKey]func() source.Inspection{}
	}
	once, ok := t.inspections[key]
	if !ok {
		once = sync.OnceValue(read)
		t.inspections[key] = once
	}
	t.mu.Unlock()
	return once()
}

// Prefetch reads the source files of a change, several at a time.
func (t *InspectionCache) Prefetch(files []File) {
	Parallel(len(files), func(i int) {
		f := files[i]
		for _, text := range [][]byte{f.Before, f.After} {
			if len(text) > 0 && source.DetectLanguage(f.Path, head(text)) != source.Unknown {
				t.Inspect(f.Path, text)
			}
		}
	})
}

// Parallel calls do for each number below n, on all processors, and waits for the last.
func Parallel(n int, do func(i int)) {
	var workers sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}

// Tree is the entire project before a change. It is read only when a rule needs
// tests that did not change. The zero value is a project of which only the
// changed files are known.
type Tree struct {
	// Paths lists its files, slash separated.
	Paths func() []string
	// Texts returns the texts of some of them by path. Those that are not there,
	// binary, longer than 1 MiB or cannot be read are left out.
	Texts func(paths []string) map[string][]byte
}

// Bounds of what is read of a tree: a project may have thousands of tests.
const (
	maxBaseFiles = 400
	maxBaseBytes = 8 << 20
	baseBatch    = 50 // files read at a time
)

// baseTestPaths returns the test files of the project before the change, at most maxBaseFiles.
// Files that are named like a changed product file, or are in the same folder as one, come first.
func (c *Change) baseTestPaths() []string {
	if c.Base.Paths == nil || c.Base.Texts == nil {
		return nil
	}
	nearness := map[string]int{}
	for _, f := range c.Files {
		if f.After().IsProduct() {
			nearness[SubjectName(f.Path)], nearness[path.Dir(f.Path)] = 2, 1
		}
	}

	list := Filter(c.Base.Paths(), func(name string) bool {
		lang := source.DetectLanguage(name, nil)
		mayHoldTests := lang == source.Rust || lang != source.Unknown && source.IsTestFile(name, lang)
		return mayHoldTests && !source.IsVendored(name)
	})

	rank := func(name string) int { return nearness[SubjectName(name)] + nearness[path.Dir(name)] }
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b)) })
	return list[:min(len(list), maxBaseFiles)]
}

// BaseTests yields each file that held tests before the change: the changed ones first, then those
// of the tree. It stops after maxBaseFiles files or maxBaseBytes bytes of the tree.
func (c *Change) BaseTests(yield func(*Side) bool) {
	seen := map[string]bool{}
	for _, f := range c.Files {
		s := f.Before()
		seen[s.Path] = true
		if s.MayHoldTests() && !yield(s) {
			return
		}
	}

	left := maxBaseBytes
	for names := range slices.Chunk(c.baseTestPaths(), baseBatch) {
		texts := c.Base.Texts(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return seen[n] }))
		for _, name := range names {
			text, ok := texts[name]
			if left -= len(text); left < 0 {
				return
			}
			if ok && !yield(&Side{Path: name, Text: text}) {
				return
			}
		}
	}
}
