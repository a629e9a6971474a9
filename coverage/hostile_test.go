package coverage_test

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"supervise/coverage"
)

// endless gives head, then parts that are made from their number until size
// bytes, then tail.
func endless(head string, size int, tail string, part func(n int) string) io.Reader {
	var block strings.Builder
	n, given := 0, 0
	more := readFunc(func(p []byte) (int, error) {
		if given >= size {
			return 0, io.EOF
		}
		block.Reset()
		for block.Len() < len(p)/2 {
			block.WriteString(part(n))
			n++
		}
		if block.Len() > len(p) {
			return 0, io.ErrShortBuffer
		}
		given += block.Len()
		return copy(p, block.String()), nil
	})
	return io.MultiReader(strings.NewReader(head), more, strings.NewReader(tail))
}

type readFunc func([]byte) (int, error)

// Read implements [io.Reader].
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func always(s string) func(int) string { return func(int) string { return s } }

// big is how much there is of what has no end: 34 MiB, a little more than the
// largest limit that is probed, or what SUPERVISE_HOSTILE_MB says.
var big = hostileSize()

func hostileSize() int {
	if n, err := strconv.Atoi(os.Getenv("SUPERVISE_HOSTILE_MB")); err == nil && n > 0 {
		return n << 20
	}
	return 34 << 20
}

var hostile = []struct {
	name string
	src  func() io.Reader
	want string // in the error; "" for none
}{
	{"lcov: an endless path", func() io.Reader {
		return endless("SF:a\nDA:1,1\nend_of_record\nSF:", big, "\nDA:1,1\nend_of_record\n", always("path"))
	}, ""},
	{"lcov: an endless count", func() io.Reader {
		return endless("SF:a\nDA:2,0\nDA:1,", big, "\nend_of_record\n", always("1234"))
	}, ""},
	{"lcov: two files alternately, a line at a time", func() io.Reader {
		return endless("", big/4, "", func(n int) string {
			return fmt.Sprintf("SF:%d\nDA:%d,%d\nend_of_record\n", n%2, 1+n*7919%9_999_991, n%3)
		})
	}, ""},
	{"lcov: lines in no order", func() io.Reader {
		return endless("SF:a\n", big/4, "end_of_record\n", func(n int) string { return fmt.Sprintf("DA:%d,%d\n", 1+n*7919%99_991, n%3) })
	}, ""},
	{"lcov: branches with names", func() io.Reader {
		return endless("SF:a\nDA:1,1\n", big/4, "end_of_record\n", func(n int) string { return fmt.Sprintf("BRDA:%d,0,jump to %d,%d\n", 1+n%999, n%13, n%2) })
	}, ""},
	{"lcov: millions of files", func() io.Reader {
		return endless("", big/4, "", func(n int) string { return fmt.Sprintf("SF:%d\nLF:1\nend_of_record\n", n) })
	}, "files or more"},
	{"cobertura: elements in elements", func() io.Reader {
		return endless(`<coverage line-rate="1"><packages>`, 1<<20, "", always("<package>"))
	}, "nested more than"},
	{"cobertura: an entity bomb", func() io.Reader {
		bomb := `<!DOCTYPE lolz [<!ENTITY a "lol">`
		for c := 'b'; c <= 'j'; c++ {
			bomb += "<!ENTITY " + string(c) + ` "` + strings.Repeat("&"+string(c-1)+";", 10) + `">`
		}
		return strings.NewReader(bomb + "]>" + xmlHead + `<class filename="&j;"><lines><line number="1" hits="1"/></lines></class>` + xmlTail)
	}, ""},
	{"cobertura: two classes alternately, a line at a time", func() io.Reader {
		return endless(xmlHead, big/4, xmlTail, func(n int) string {
			return fmt.Sprintf(`<class filename="%d"><lines><line number="%d" hits="%d" condition-coverage="50%% (1/2)"/></lines></class>`, n%2, 1+n*7919%999_983, n%3)
		})
	}, ""},
	{"cobertura: an endless method", func() io.Reader {
		return endless(xmlHead+`<class filename="a"><methods><method><lines>`, big/4, `</lines></method></methods></class>`+xmlTail, func(n int) string {
			return fmt.Sprintf(`<line number="%d" hits="1" condition-coverage="50%% (1/2)"/>`, 1+n*7919%99_991)
		})
	}, ""},
	{"cobertura: an endless source", func() io.Reader {
		return endless(`<coverage line-rate="1"><sources><source>`, big, `</source></sources><packages/></coverage>`, always("path/"))
	}, ""},
	{"jacoco: an endless package without source files", func() io.Reader {
		return endless(`<report><package name="p">`, big/4, `</package></report>`, always(`<class name="p/A" sourcefilename="A.java"><counter type="LINE" missed="1" covered="2"/></class>`))
	}, ""},
	{"opencover: an endless name", func() io.Reader {
		return endless(`<CoverageSession><Modules><Module><Classes><Class><FullName>`, big, `</FullName></Class></Classes></Module></Modules></CoverageSession>`, always("name"))
	}, ""},
	{"gcov-text: an endless source line", func() io.Reader {
		return endless("        -:    0:Source:a.c\n        1:    1:", big, "\n    #####:    2:x\n", always("text"))
	}, ""},
	{"gcov-text: endless branches", func() io.Reader {
		return endless("        -:    0:Source:a.c\n        1:    1:x\n", big/4, "", func(n int) string { return fmt.Sprintf("branch %d taken 1\n", n%99_991) })
	}, ""},
	{"dotcover: types in types", func() io.Reader {
		return endless(`{"DotCoverVersion":"1","Kind":"Root","TotalStatements":1,"Children":[`, 1<<20, "", always(`{"Kind":"Type","Children":[`))
	}, "nested more than"},
	{"dotcover: an endless name", func() io.Reader {
		return endless(`<Root DotCoverVersion="1" TotalStatements="1" CoveredStatements="1"><Assembly CoveredStatements="1" TotalStatements="1" Name="`, big, `"/></Root>`, always("name"))
	}, ""},
	{"istanbul: an endless file", func() io.Reader {
		return endless(`{"/a.js":{"path":"/a.js","statementMap":{},"s":{"0":1`, big, `}}}`, func(n int) string { return fmt.Sprintf(`,"%060d":1`, n+1) })
	}, "one value is longer than 32 MiB"},
	{"llvm-cov: endless functions", func() io.Reader {
		return endless(`{"data":[{"files":[{"filename":"a","segments":[],"summary":{"lines":{"count":1,"covered":1}}}],"functions":[0`, big, `]}]}`, always(`,{"name":"f","regions":[[1,2,3]]}`))
	}, ""},
	{"llvm-cov: a region of a thousand million lines", func() io.Reader {
		return strings.NewReader(`{"data":[{"files":[{"filename":"a","segments":[[1,1,1,true,true,false],[1000000000,1,0,false,false,false]],"summary":{"lines":{"count":1,"covered":1}}}]}]}`)
	}, "no place or no count"},
	{"simplecov: an endless file", func() io.Reader {
		return endless(`{"rspec":{"coverage":{"/a.rb":{"lines":[1`, big, `]}}}}`, always(",0,null,1"))
	}, "one value is longer than 32 MiB"},
	{"go: a block of a thousand million lines", func() io.Reader {
		return strings.NewReader("mode: set\np/a.go:1.1,999999999.2 3 1\np/a.go:5.1,999999999.2 3 0\n")
	}, ""},
}

// TestHostile reads what was made to break readers: each ends, with little
// memory.
func TestHostile(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("reads half a gigabyte")
	}
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			watched := &heapWatch{src: tt.src()}
			runtime.GC()
			base := watched.now()
			r, err := coverage.Read(watched, "hostile")
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			checkSane(t, r, err)
			if grown := int64(watched.peak) - int64(base); grown > 400<<20 {
				t.Errorf("the heap grew by %d MB", grown>>20)
			}
		})
	}
}

// heapWatch looks at the heap while it is read from.
type heapWatch struct {
	src  io.Reader
	peak uint64
	n    int
}

func (h *heapWatch) now() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Read implements [io.Reader].
func (h *heapWatch) Read(p []byte) (int, error) {
	n, err := h.src.Read(p)
	if h.n += n; h.n > 4<<20 {
		h.n = 0
		h.peak = max(h.peak, h.now())
	}
	return n, err
}
