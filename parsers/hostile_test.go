package parsers_test

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"supervise/parsers"
)

// endless gives head, then part over and over until size bytes, then tail.
func endless(head, part string, size int, tail string) io.Reader {
	block := strings.Repeat(part, 1+(1<<16)/len(part))
	list := []io.Reader{strings.NewReader(head)}
	for n := 0; n < size; n += len(block) {
		list = append(list, strings.NewReader(block))
	}
	return io.MultiReader(append(list, strings.NewReader(tail))...)
}

// big is how much there is of what has no end: 34 MiB, a little more than the
// largest limit that is probed, or what SUPERVISE_HOSTILE_MB says.
var big = hostileSize()

func hostileSize() int {
	if n, err := strconv.Atoi(os.Getenv("SUPERVISE_HOSTILE_MB")); err == nil && n > 0 {
		return n << 20
	}
	return 34 << 20
}

type hostileCase struct {
	name string
	src  func() io.Reader
	want string // in the error; "" for none
}

var hostile = []hostileCase{
	{"endless one text", func() io.Reader {
		return endless(`<testsuite><testcase name="a"><failure>`, "text ", big, `</failure></testcase></testsuite>`)
	}, ""},
	{"endless one attribute", func() io.Reader {
		return endless(`<testsuite><testcase name="`, "text ", big, `"/></testsuite>`)
	}, ""},
	{"endless output", func() io.Reader {
		return endless(`<testsuite><testcase name="a"/><system-out><![CDATA[`, "text ", big, `]]></system-out></testsuite>`)
	}, ""},
	{"depth 100000", func() io.Reader {
		return endless("", "<testsuite>", 100_000*len("<testsuite>"), "")
	}, "nested more than"},
	{"entity bomb", func() io.Reader {
		bomb := `<!DOCTYPE lolz [<!ENTITY a "lol">`
		for c := 'b'; c <= 'j'; c++ {
			bomb += "<!ENTITY " + string(c) + ` "` + strings.Repeat("&"+string(c-1)+";", 10) + `">`
		}
		return strings.NewReader(bomb + `]><testsuite><testcase name="&j;"><failure>&j;</failure></testcase></testsuite>`)
	}, ""},
	{"endless line between events", func() io.Reader {
		return endless(`{"Action":"start","Package":"p"}`+"\n", "text ", big, "\n"+`{"Action":"pass","Package":"p"}`+"\n")
	}, ""},
	{"endless event", func() io.Reader {
		return endless(`{"Action":"start","Package":"p"}`+"\n"+`{"Action":"output","Package":"p","Output":"`, "text ", big, `"}`+"\n"+`{"Action":"pass","Package":"p"}`+"\n")
	}, ""},
	{"endless output of one test", func() io.Reader {
		return endless(`{"Action":"run","Package":"p","Test":"A"}`+"\n",
			`{"Action":"output","Package":"p","Test":"A","Output":"a line of output that says nothing much at all, again and again"}`+"\n", big/5, "")
	}, ""},
	{"endless issue", func() io.Reader {
		return endless(`{"Issues":[{"FromLinter":"a","Text":"`, "text ", big, `"}]}`)
	}, "one value is longer than 32 MiB"},
	{"endless result", func() io.Reader {
		return endless(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"codeFlows":[`, `{"a":[1,2]},`, big, `0],"message":{"text":"m"}}]}]}`)
	}, "one value is longer than 32 MiB"},
	{"endless properties of a run", func() io.Reader {
		return endless(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"graphs":[`, `{"a":[1,2]},`, big, `0],"results":[{"message":{"text":"m"}}]}]}`)
	}, ""},
	{"endless list in a file of eslint", func() io.Reader {
		return endless(`[{"filePath":"a.js","messages":[],"stats":[`, `1,`, big, `1]}]`)
	}, ""},
	{"endless message of eslint", func() io.Reader {
		return endless(`[{"filePath":"a.js","messages":[{"message":"`, `text `, big, `"}]}]`)
	}, "one value is longer than 32 MiB"},
	{"endless message of checkstyle", func() io.Reader {
		return endless(`<checkstyle><file name="a"><error message="`, "text ", big, `"/></file></checkstyle>`)
	}, ""},
	{"endless text of PMD", func() io.Reader {
		return endless(`<pmd><file name="a"><violation rule="r">`, "text ", big, `</violation></file></pmd>`)
	}, ""},
	{"endless message of Boost.Test", func() io.Reader {
		return endless(`<TestLog><TestSuite name="m"><TestCase name="a"><Error file="a" line="1"><![CDATA[`, "text ", big, `]]></Error></TestCase></TestSuite></TestLog>`)
	}, ""},
	{"endless incidents of Qt", func() io.Reader {
		return endless(`<TestCase name="A"><Environment><QtVersion>5</QtVersion></Environment><TestFunction name="a">`, `<Incident type="fail"><Description>no</Description></Incident>`, big/5, `</TestFunction></TestCase>`)
	}, ""},
	{"endless output of a test of Qt", func() io.Reader {
		return endless("********* Start testing of A *********\nFAIL!  : A::a() no\n", "a line of output\n", big/2, "Totals: 0 passed, 1 failed, 0 skipped, 0 blacklisted, 1ms\n")
	}, ""},
	{"endless trace of Allure", func() io.Reader {
		return endless(`{"uuid":"1","historyId":"h","name":"a","status":"failed","statusDetails":{"trace":"`, "text ", big, `"}}`)
	}, "one value is longer than 32 MiB"},
	{"endless test point", func() io.Reader {
		return endless("TAP version 13\n1..1\nnot ok 1 ", "text ", big, "\n")
	}, ""},
	{"endless block of a test point", func() io.Reader {
		return endless("TAP version 13\n1..1\nnot ok 1 a\n  ---\n", "  text: a line of it\n", big/5, "  ...\n")
	}, ""},
	{"endless text of go test", func() io.Reader {
		return endless("=== RUN   TestA\n--- PASS: TestA (0.00s)\n", "a line of output\n", big/2, "ok  \tp\t0.1s\n")
	}, ""},
	{"endless tests in the text of go test", func() io.Reader {
		return endless("", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n", big/5, "ok  \tp\t0.1s\n")
	}, "more than 10000 tests"},
	{"endless tests", func() io.Reader {
		return endless("<testsuite>", `<testcase name="a"/>`, max(big, 42<<20), "</testsuite>")
	}, "more than 2000000 tests"},
	{"endless events", func() io.Reader {
		return endless("", `{"Action":"run","Package":"p","Test":"A"}`+"\n", 88<<20, "")
	}, "more than 2000000 tests"},
	{"endless findings", func() io.Reader {
		file := `{"filePath":"a.js","messages":[` + strings.Repeat(`{"message":"m"},`, 99) + `{"message":"m"}]},`
		return endless("[", file, 36<<20, `{"filePath":"b.js","messages":[]}]`)
	}, "more than 2000000 tests or findings"},
	{"endless output of a test of Rust", func() io.Reader {
		return endless("running 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n", "a line of output\n", big/5, "\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n")
	}, ""},
	{"endless line of a compiler", func() io.Reader {
		return endless("# p\na.go:1:2: ", "text ", big, "\n")
	}, "none of the formats"},
}

// limit is how much the heap may grow, in bytes: for reports that are kept up to
// the limit of tests or findings, by so many of them.
func (h hostileCase) limit() int64 {
	if strings.HasPrefix(h.want, "more than") {
		return 2 << 30
	}
	return 256 << 20
}

// TestHostile reads what was made to break readers: each ends, with little
// memory.
func TestHostile(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("reads gigabytes")
	}
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			watched := &heapWatch{src: tt.src()}
			runtime.GC()
			base := watched.now()
			r, err := parsers.Parse(watched, "hostile")
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if grown := int64(watched.peak) - int64(base); grown > tt.limit() {
				t.Errorf("the heap grew by %d MB", grown>>20)
			}
			if r.Tests != nil {
				for _, c := range r.Tests.Cases {
					if len(c.Message) > 9<<10 {
						t.Errorf("a message of %d bytes was kept", len(c.Message))
					}
				}
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
