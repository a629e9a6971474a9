package gotool_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/parsers"
	"supervise/test/reports"
)

// TestGoTestEventsWithSpacesAreReadAlike reads the captured events as go test writes them and in
// another form of the same JSON, which is read in another way.
func TestGoTestEventsWithSpacesAreReadAlike(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(reports.Fixtures(t), "tests/gotest/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := parsers.ParseAs(bytes.NewReader(text), "go-test-json")
		spaced := bytes.ReplaceAll(text, []byte("}\n"), []byte(" }\n"))
		got, gotErr := parsers.ParseAs(bytes.NewReader(spaced), "go-test-json")
		if diff := cmp.Diff(want, got); diff != "" || (wantErr == nil) != (gotErr == nil) {
			t.Errorf("%s: errors %v, %v (-as written +with spaces):\n%s", name, wantErr, gotErr, diff)
		}
	}
}

// TestGoTestEscapesAreResolved reads texts with the escapes of JSON.
func TestGoTestEscapesAreResolved(t *testing.T) {
	for text, want := range map[string]string{
		`a\"b\\c\/d`:             `a"b\c/d`,
		`tab\tline\nend`:         "tab\tline\nend",
		`\u0041\u00e9\u4e16`:     "Aé世",
		`\ud83d\ude00 smiles`:    "😀 smiles",
		`\u003cnil\u003e`:        "<nil>",
		`ends with a slash \\`:   `ends with a slash \`,
		"raw é and \\u00e9":      "raw é and é",
		`half a pair \ud83d end`: "half a pair \uFFFD end",
	} {
		report := `{"Action":"run","Package":"p","Test":"A"}` + "\n" +
			`{"Time":"2026-01-02T03:04:05Z","Action":"output","Package":"p","Test":"A","Output":"` + text + `"}` + "\n" +
			`{"Action":"fail","Package":"p","Test":"A","Elapsed":1e-1}` + "\n" +
			`{"Action":"fail","Package":"p","Elapsed":0.25}` + "\n"
		r, err := parsers.Parse(strings.NewReader(report), "test")
		if err != nil || len(r.Tests.Cases) != 1 || r.Tests.Cases[0].Message != want {
			t.Errorf("%s: error %v, got %+v, want %q", text, err, r.Tests, want)
		}
	}
}

// Go before 1.24 writes what it cannot build between the events, and tools may
// have put spaces for its tab.
func TestGoTestTextOfFailedBuildBreaksThePackage(t *testing.T) {
	events := `{"Action":"run","Package":"q","Test":"A"}` + "\n" + `{"Action":"pass","Package":"q","Test":"A"}` + "\n" + `{"Action":"pass","Package":"q"}` + "\n"
	for line, want := range map[string]string{
		"FAIL\tp [build failed]":         "p",
		"FAIL    p.com/a [setup failed]": "p.com/a",
		"FAIL p [no test files]":         "",
		"FAILED p [build failed]":        "",
	} {
		r, err := parsers.ParseAs(strings.NewReader(line+"\n"+events), "go-test-json")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range r.Tests.Broken {
			got += s.Name
		}
		if got != want {
			t.Errorf("%q: broken %q, want %q", line, got, want)
		}
	}
}

// events writes go test -json events, one from each "action package test" line;
// further words are the output or the failed build.
func events(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		f := strings.SplitN(l, " ", 4)
		for len(f) < 4 {
			f = append(f, "")
		}
		fmt.Fprintf(&b, `{"Action":%q,"Package":%q,"Test":%q,"Output":%q}`+"\n", f[0], f[1], strings.Trim(f[2], "-"), f[3])
	}
	return b.String()
}

func TestGoTestEvents(t *testing.T) {
	for _, tt := range []struct {
		name, report string
		want         map[string]string
	}{
		{
			"a run without an end failed", events("start p", "run p A", "run p B", "pass p B", "pass p"),
			map[string]string{"p: A": "failed", "p: B": "passed"},
		},
		{
			"a package without an end", events("start p", "run p A", "pass p A"),
			map[string]string{"p: A": "passed", "broken p": "did not finish: go test was stopped, or its output was cut off"},
		},
		{
			"failure without a failing test", events("start p", "run p A", "pass p A", "output p - PASS\n", "output p - exit status 1\n", "fail p"),
			map[string]string{"p: A": "passed", "broken p": "failed without a failing test: exit status 1"},
		},
		{
			"failure of a test", events("start p", "run p A", "output p A --- FAIL: A\n", "fail p A", "output p - FAIL\n", "fail p"),
			map[string]string{"p: A": "failed"},
		},
		{
			"failure without any output", events("start p", "run p A", "fail p A", "fail p"),
			map[string]string{"p: A": "failed"},
		},
		{
			"crash after a failure", events("start p", "run p A", "fail p A", "output p - signal: killed\n", "fail p"),
			map[string]string{"p: A": "failed", "broken p": "crashed: signal: killed"},
		},
		{"no test files", events("start p", "output p - ?   \tp\t[no test files]\n", "skip p"), map[string]string{}},
		{"no tests to run", events("start p", "output p - ok\n", "pass p"), map[string]string{}},
		{
			"twice the same test, worst wins", events("start p", "run p A", "fail p A", "run p A", "pass p A", "output p - FAIL\n", "fail p"),
			map[string]string{"p: A": "failed"},
		},
		{
			"two packages that interleave", events("start p", "start q", "run p A", "run q A", "pass q A", "skip p A", "pass p", "pass q"),
			map[string]string{"p: A": "skipped", "q: A": "passed"},
		},
		{
			"another package run with other tests is no rerun", events("run p A", "fail p A", "fail p", "start p", "run p A", "pass p A", "run p B", "pass p B", "pass p"),
			map[string]string{"p: A": "failed", "p: B": "passed"},
		},
		{"output that looks like an outcome", events("start p", "run p A", "output p A --- FAIL: A (0.00s)\n", "pass p A", "pass p"), map[string]string{"p: A": "passed"}},
		{
			"build failure of older Go", "# p\n./a.go:1:2: undefined: x\nFAIL\tp [build failed]\n" + events("start q", "run q A", "pass q A", "pass q"),
			map[string]string{"q: A": "passed", "broken p": "build failed"},
		},
		{"noise before an event on its line", "some noise" + events("start p", "run p A", "pass p A", "pass p"), map[string]string{"p: A": "passed"}},
		{"carriage returns and a mark", "\uFEFF" + strings.ReplaceAll(events("start p", "run p A", "pass p A", "pass p"), "\n", "\r\n"), map[string]string{"p: A": "passed"}},
		{"benchmark", events("start p", "run p BenchmarkA", "output p BenchmarkA x", "pass p"), map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reports.Statuses(r.Tests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzGoTest(f *testing.F) {
	reports.Fuzz(f, "go-test",
		"=== RUN   TestA\n    a_test.go:1: x\n--- FAIL: TestA (0.00s)\nFAIL\nexit status 1\nFAIL\tp\t0.1s\nok  \tq\t0.1s [no tests to run]\nFAIL\n",
		"# p [p.test]\na.go:1:2: no\nFAIL\tp [build failed]\n?   \tq\t[no test files]\nFAIL\n",
		"=== RUN   TestA\npanic: x [recovered]\nFAIL\tp\t0.1s\n")
}

func FuzzGoTestJSON(f *testing.F) {
	reports.Fuzz(f, "go-test-json", "{\"Action\":\"run\",\"Package\":\"a\xff\",\"Test\":\"TestA\"}\n{\"Action\":\"fail\",\"Package\":\"a\xff\",\"Test\":\"TestA\"}\n{\"Action\":\"fail\",\"Package\":\"b\xff\"}\n")
}

func FuzzGoVetJSON(f *testing.F) { reports.Fuzz(f, "go-vet-json") }

func FuzzGoVet(f *testing.F) { reports.Fuzz(f, "go-vet") }

func FuzzGoBuild(f *testing.F) { reports.Fuzz(f, "go-build") }
