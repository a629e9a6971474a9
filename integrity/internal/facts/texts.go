package facts

import (
	"runtime"
	"sync"
	"sync/atomic"

	"supervise/source"
)

// Texts reads source files, each once, for all who ask for what is in them. It may
// be used from several goroutines. What it returns belongs to all of them and is
// not to be changed, and neither are the texts.
type Texts struct {
	lock  sync.Mutex
	known map[textOf]func() source.Inspection
}

// textOf identifies a text by its address: texts are not compared.
type textOf struct {
	path  string
	first *byte
	size  int
}

// Inspect returns what is in a source file. A file that does not parse is read as
// far as it goes. A nil Texts remembers nothing.
func (t *Texts) Inspect(path string, text []byte) source.Inspection {
	read := func() source.Inspection {
		in, _ := source.Inspect(path, text)
		return in
	}
	if t == nil || len(text) == 0 {
		return read()
	}
	key := textOf{path, &text[0], len(text)}
	t.lock.Lock()
	if t.known == nil {
		t.known = map[textOf]func() source.Inspection{}
	}
	once, ok := t.known[key]
	if !ok {
		once = sync.OnceValue(read)
		t.known[key] = once
	}
	t.lock.Unlock()
	return once()
}

// ReadAhead reads the source files of a change, several at a time.
func (t *Texts) ReadAhead(files []File) {
	Parallel(len(files), func(i int) {
		f := files[i]
		for _, text := range [][]byte{f.Before, f.After} {
			if len(text) > 0 && source.LanguageOf(f.Path, head(text)) != source.Unknown {
				t.Inspect(f.Path, text)
			}
		}
	})
}

// Parallel does a thing for each number below n, on all processors, and waits for
// the last.
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
