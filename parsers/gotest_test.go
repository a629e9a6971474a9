package parsers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/parsers"
)

// TestGoTestEventForms reads the captured events as go test writes them and in
// another form of the same JSON, which is read in another way.
func TestGoTestEventForms(t *testing.T) {
	files, err := filepath.Glob(fixtures + "/tests/gotest/*.jsonl")
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

// TestGoTestEscapes reads texts with the escapes of JSON.
func TestGoTestEscapes(t *testing.T) {
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
func TestGoTestBuildFailedText(t *testing.T) {
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
