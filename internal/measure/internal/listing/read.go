// Package listing reads the tests that a framework lists without running them, and
// compares them with those that ran.
package listing

import (
	"cmp"
	"io"
	"path/filepath"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/parsers"
)

// Test is one test, or one file of tests, in the list of a framework.
type Test struct {
	Suite   string // "" if the list does not name it
	Name    string // "" for a file
	Ignored bool   // it is not meant to run
}

// Compare orders tests by suite, then by name.
func (t Test) Compare(u Test) int {
	return cmp.Or(strings.Compare(t.Suite, u.Suite), strings.Compare(t.Name, u.Name))
}

// listReaders read the output of the inventory commands.
var listReaders = map[framework.ListFormat]func(io.Reader) ([]Test, error){
	framework.GoList:      listGo,
	framework.NodeIDs:     listPytest,
	framework.FileList:    listFiles,
	framework.NameAndFile: listVitest,
	framework.Report:      listReport,
	framework.RustTerse:   listCargo,
	framework.NextestList: listNextest,
	framework.CTestList:   listCTest,
}

// readerOf returns the reader for the list of a runner, nil if there is none.
func readerOf(runner string) func(io.Reader) ([]Test, error) {
	if f := framework.Named(runner); f != nil {
		return listReaders[f.List.Format]
	}
	return nil
}

// CanRead reports whether the list of a framework can be read.
func CanRead(runner string) bool { return readerOf(runner) != nil }

// Read reads what the inventory command of a known framework printed.
func Read(runner string, r io.Reader) ([]Test, error) { return readerOf(runner)(r) }

// listGo reads go test -list . -json, without benchmarks.
func listGo(r io.Reader) ([]Test, error) {
	var out []Test
	err := jsonstream.ReadEvents(r, nil, jsonstream.Sink{Event: func(raw []byte, _ textstream.Line) error {
		var e struct{ Action, Package, Output string }
		if err := jsonstream.Unmarshal(raw, &e); err != nil {
			return err
		}
		name := strings.TrimSpace(e.Output)
		for _, kind := range []string{"Test", "Example", "Fuzz"} {
			if rest, ok := strings.CutPrefix(name, kind); ok && e.Action == "output" && goTestNameRE.MatchString(rest) {
				out = append(out, Test{Suite: e.Package, Name: name})
			}
		}
		return nil
	}})
	return out, err
}

// goTestNameRE matches what may follow "Test" in the name of a test: nothing, or a word that does
// not start with a lower-case letter, as in TestAdd.
var goTestNameRE = regexp.MustCompile(`^(|[^\p{Ll}\s][\p{L}\p{N}_]*)$`)

// listPytest reads the node ids that pytest --collect-only -q prints: the file is the suite, and
// the name of "tests/test_cart.py::TestCart::test_add[1-2]" is "TestCart test_add[1-2]".
func listPytest(r io.Reader) ([]Test, error) {
	var out []Test
	err := textstream.EachLine(r, func(l textstream.Line) {
		id := string(l.Text)
		file, rest, ok := strings.Cut(id, "::")
		if !ok || strings.ContainsAny(file, " \t") {
			return
		}
		plain, parameters, _ := strings.Cut(rest, "[") // parameters may contain "::"
		parts := strings.Split(plain, "::")
		name := strings.Join(parts[max(0, len(parts)-2):], " ")
		if parameters != "" {
			name += "[" + parameters
		}
		out = append(out, Test{Suite: file, Name: name})
	})
	return out, err
}

// listFiles reads one file name per line, as jest --listTests prints them.
func listFiles(r io.Reader) ([]Test, error) {
	var out []Test
	err := textstream.EachLine(r, func(l textstream.Line) {
		if name := strings.TrimSpace(string(l.Text)); filepath.IsAbs(name) {
			out = append(out, Test{Suite: name})
		}
	})
	return out, err
}

// listVitest reads vitest list --json.
func listVitest(r io.Reader) ([]Test, error) {
	var out []Test
	_, err := jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error {
		return j.Array(func() error {
			var t struct {
				Name string `json:"name"`
				File string `json:"file"`
			}
			err := j.Value(&t)
			out = append(out, Test{Suite: t.File, Name: t.Name})
			return err
		})
	})
	return out, err
}

// listCargo reads cargo test -- --list --format=terse, which does not name the binary of a
// test. Documentation tests are not included, since not every test command runs them.
func listCargo(r io.Reader) ([]Test, error) {
	var out []Test
	err := textstream.EachLine(r, func(l textstream.Line) {
		if name, ok := strings.CutSuffix(string(l.Text), ": test"); ok && !strings.Contains(name, " (line ") {
			out = append(out, Test{Name: name})
		}
	})
	return out, err
}

// listNextest reads cargo nextest list --message-format=json. The reports of nextest do not
// include tests that are ignored or excluded by the default filter.
func listNextest(r io.Reader) ([]Test, error) {
	var list struct {
		Suites map[string]struct {
			Cases map[string]struct {
				Kind    string `json:"kind"`
				Ignored bool   `json:"ignored"`
				Match   struct {
					Status string `json:"status"`
				} `json:"filter-match"`
			} `json:"testcases"`
		} `json:"rust-suites"`
	}
	_, err := jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error { return j.Value(&list) })
	var out []Test
	for suite, s := range list.Suites {
		for name, c := range s.Cases {
			if c.Kind != "bench" {
				out = append(out, Test{suite, name, c.Ignored || c.Match.Status == "mismatch"})
			}
		}
	}
	return out, err
}

// listCTest reads ctest --show-only=json-v1.
func listCTest(r io.Reader) ([]Test, error) {
	var list struct {
		Tests []struct {
			Name string `json:"name"`
		} `json:"tests"`
	}
	_, err := jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error { return j.Value(&list) })
	var out []Test
	for _, t := range list.Tests {
		out = append(out, Test{Name: t.Name})
	}
	return out, err
}

// listReport reads a report of tests that did not run.
func listReport(r io.Reader) ([]Test, error) {
	report, err := parsers.Parse(r, "the list of tests")
	if err != nil {
		return nil, err
	}
	var out []Test
	if report.Tests != nil {
		for _, t := range report.Tests.Cases {
			if strings.HasPrefix(t.Name, "example at ./") { // RSpec makes up its description at run time
				continue
			}
			out = append(out, Test{Suite: t.Suite, Name: strings.TrimSpace(t.Class + " " + t.Name)})
		}
	}
	return out, nil
}
