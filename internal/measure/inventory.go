package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers"
)

// listed is one test, or one file of tests, in the framework's list.
type listed struct {
	suite   string // "" if the list does not name it
	name    string // "" for a file
	ignored bool   // it is not meant to run
}

// listings read the output of a framework's inventory command.
var listings = map[string]func(io.Reader) ([]listed, error){
	"go":         listGo,
	"pytest":     listPytest,
	"jest":       listFiles,
	"vitest":     listVitest,
	"mocha":      listReport,
	"playwright": listReport,
	"rspec":      listReport,
	"cargo":      listCargo,
	"nextest":    listNextest,
	"ctest":      listCTest,
}

// inventory compares the tests that ran with the framework's list, and returns them
// together with those that did not run. It runs the inventory command only if something
// may be missing: at the baseline, and when a known test is not in the report.
func (m *Meter) inventory(ctx context.Context, run *Run, known *metric.Tests) error {
	c := run.Check
	if _, read := listings[c.Runner]; len(c.Inventory) == 0 || !read || run.state != metric.Measured || run.tests == nil || run.gone || !m.loses(run, known) {
		return nil
	}
	list, err := m.list(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		why := fmt.Sprintf("the tests of %s could not be listed: %v", c.Name, err)
		run.Problems = append(run.Problems, why)
		if m.unseen[c.id()] { // without the list they would look deleted
			run.state, run.Why = metric.Partial, why
		}
		return nil
	}
	before, count := len(run.tests.Problems), len(run.tests.Cases)
	list = run.unlisted(list)
	run.tests, run.Listed = reconcile(run.tests, list), len(list)
	m.unseen[c.id()] = len(run.tests.Cases) > count
	run.Problems = append(run.Problems, run.tests.Problems[before:]...)
	return nil
}

// loses reports whether a known test of the check is not among those of the run, or
// none is known. Runs teach which suites a check runs.
func (m *Meter) loses(run *Run, known *metric.Tests) bool {
	suites, learnt := m.suites[run.Check.id()]
	if known == nil {
		return true
	}
	return slices.ContainsFunc(known.Cases, func(c metric.Test) bool {
		_, there := run.tests.Lookup(c.ID)
		return !there && (suites[c.Suite] || !learnt)
	})
}

// learn remembers the suites that a check runs, and those that it only lists.
func (m *Meter) learn(run *Run) {
	if run.state != metric.Measured || run.tests == nil {
		return
	}
	line := run.Check.id()
	if m.suites[line] == nil {
		m.suites[line] = map[string]bool{}
	}
	for _, t := range run.tests.Cases {
		m.suites[line][t.Suite] = true
	}
}

// buildTools run the tests of one module after another.
var buildTools = map[string]bool{"maven": true, "gradle": true, "dotnet": true}

// stopped marks known suites as broken if their check ran nothing because one of them
// is broken, or if a build tool stopped before them.
func (m *Meter) stopped(run *Run, known *metric.Tests) {
	if run.state != metric.Measured || run.tests == nil || known == nil {
		return
	}
	why := whyStopped(*run)
	if why == "" {
		return
	}
	t := run.tests
	suites, learnt := m.suites[run.Check.id()]
	seen := map[string]bool{}
	for _, c := range t.Cases {
		seen[c.Suite] = true
	}
	for _, b := range t.Broken {
		seen[b.Name] = true
	}
	for _, c := range known.Cases {
		ours := suites[c.Suite] || !learnt && run.Check.Dir != "" && strings.HasPrefix(c.Suite, run.Check.Dir+"/")
		if ours && !seen[c.Suite] {
			seen[c.Suite] = true
			t.Broken = append(t.Broken, metric.Suite{Name: c.Suite, Why: why})
		}
	}
}

// whyStopped returns why suites did not run that the report does not name, "" if all of
// them should have.
func whyStopped(run Run) string {
	t := run.tests
	switch {
	case len(t.Cases) == 0 && len(t.Broken) > 0:
		return t.Broken[0].Why
	case buildTools[run.Check.Runner] && t.Failure != "", run.Check.Runner == "maven" && run.ExitCode != 0:
		return cmp.Or(t.Failure, fmt.Sprintf("%s ended with status %d before it came to it", run.Check.Name, run.ExitCode))
	}
	return ""
}

// list runs the inventory command and reads its output.
func (m *Meter) list(ctx context.Context, c Check) ([]listed, error) {
	dir, err := m.scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out, err := m.newOutput(dir)
	if err != nil {
		return nil, err
	}
	defer out.close()
	c.Command, c.Stderr = c.Inventory, false
	res, err := m.execute(ctx, c.in(dir), out)
	switch {
	case err != nil:
		return nil, err
	case m.broken(c, res, out) != "":
		return nil, errors.New(m.broken(c, res, out))
	case res.ExitCode != 0:
		return nil, fmt.Errorf("%s ended with status %d: %s", strings.Join(c.Inventory, " "), res.ExitCode, orNothing(lastLine(out.end())))
	}
	list, err := listings[c.Runner](out.file)
	r := reading{check: c, root: m.plan.Root, base: m.base(c)}
	for i, l := range list {
		if c.Runner != "go" && l.suite != "" {
			list[i].suite = r.suite(filepath.ToSlash(l.suite))
		}
	}
	return list, err
}

// reconcile adds the listed tests that did not run, as not run, or as skipped if the
// framework lists them as such and reports none of them. A test that is listed only by
// its file is missing if nothing of the file ran.
func reconcile(t *metric.Tests, list []listed) *metric.Tests {
	ran := namesOf(t)
	var missed []metric.Test
	out := *t
	out.Broken, out.Problems = slices.Clone(t.Broken), slices.Clone(t.Problems)
	told, n := "", 0
	other := changing(t, list)
	for _, l := range list {
		known := slices.ContainsFunc(t.Broken, func(b metric.Suite) bool { return b.Name == l.suite || l.suite == "" })
		if known || ran[key(l.suite, l.name)] || other.take(l) {
			continue // it ran, or is already known not to have run
		}
		test := metric.Test{ID: metric.ID{Suite: l.suite, Name: l.name}, Status: metric.NotRun, Message: "is listed by the framework and did not run"}
		switch {
		case l.ignored:
			test.Status, test.Message = metric.Skipped, "ignored"
			missed = append(missed, test)
			continue
		case l.name == "":
			out.Broken = append(out.Broken, metric.Suite{Name: l.suite, Why: test.Message})
		default:
			missed = append(missed, test)
		}
		if n++; told == "" {
			told = strings.TrimSpace(l.suite + " " + l.name)
		}
	}
	cases := append(missed, t.Cases...)
	other.mark(cases[len(missed):], &out.Problems)
	out.Cases = metric.NewTests(cases).Cases
	if n > 0 {
		out.Problems = append(out.Problems, fmt.Sprintf("%d of the %d tests or files that the framework lists did not run, the first: %s", n, len(list), told))
	}
	return &out
}

// namesOf returns all names by which a list may refer to the tests that ran, and their
// files.
func namesOf(t *metric.Tests) map[listed]bool {
	names := map[listed]bool{}
	for _, c := range t.Cases {
		for _, suite := range []string{c.Suite, c.File, ""} {
			names[key(suite, "")] = suite != ""
		}
		for _, name := range aliases(c) {
			names[name] = true
		}
	}
	return names
}

// aliases are the names by which a list may refer to a test.
func aliases(c metric.Test) []listed {
	var out []listed
	for _, suite := range []string{c.Suite, c.File, ""} {
		out = append(out, key(suite, c.Name), key(suite, c.Class+" "+c.Name), key(suite, lastWord(c.Class)+" "+c.Name))
	}
	return out
}

// key makes names comparable that are joined in different ways.
func key(suite, name string) listed {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '>' || r == ':' || r == '›' })
	return listed{suite: suite, name: strings.Join(words, " ")}
}

// lastWord is the innermost part of a dotted class name.
func lastWord(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// listGo reads go test -list . -json, without benchmarks.
func listGo(r io.Reader) ([]listed, error) {
	var out []listed
	err := jsonstream.Events(r, nil, jsonstream.Sink{Event: func(raw []byte, _ textstream.Line) error {
		var e struct{ Action, Package, Output string }
		if err := jsonstream.Unmarshal(raw, &e); err != nil {
			return err
		}
		name := strings.TrimSpace(e.Output)
		for _, kind := range []string{"Test", "Example", "Fuzz"} {
			if rest, ok := strings.CutPrefix(name, kind); ok && e.Action == "output" && goTestName.MatchString(rest) {
				out = append(out, listed{suite: e.Package, name: name})
			}
		}
		return nil
	}})
	return out, err
}

// goTestName matches what follows "Test": nothing, or anything but a lower-case letter
// first.
var goTestName = regexp.MustCompile(`^(|[^\p{Ll}\s][\p{L}\p{N}_]*)$`)

// listPytest reads the node ids that pytest --collect-only -q prints.
func listPytest(r io.Reader) ([]listed, error) {
	var out []listed
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
		out = append(out, listed{suite: file, name: name})
	})
	return out, err
}

// listFiles reads one file name per line, as jest --listTests prints them.
func listFiles(r io.Reader) ([]listed, error) {
	var out []listed
	err := textstream.EachLine(r, func(l textstream.Line) {
		if name := strings.TrimSpace(string(l.Text)); filepath.IsAbs(name) {
			out = append(out, listed{suite: name})
		}
	})
	return out, err
}

// listVitest reads vitest list --json.
func listVitest(r io.Reader) ([]listed, error) {
	var out []listed
	_, err := jsonstream.Documents(r, func(j *jsonstream.Reader) error {
		return j.Array(func() error {
			var t struct {
				Name string `json:"name"`
				File string `json:"file"`
			}
			err := j.Value(&t)
			out = append(out, listed{suite: t.File, name: t.Name})
			return err
		})
	})
	return out, err
}

// listCargo reads cargo test -- --list --format=terse, which does not name the binary
// of a test. Documentation tests are left out, since not every way to run the tests
// runs them.
func listCargo(r io.Reader) ([]listed, error) {
	var out []listed
	err := textstream.EachLine(r, func(l textstream.Line) {
		if name, ok := strings.CutSuffix(string(l.Text), ": test"); ok && !strings.Contains(name, " (line ") {
			out = append(out, listed{name: name})
		}
	})
	return out, err
}

// listNextest reads cargo nextest list --message-format=json. Tests that are ignored,
// or left out by the default filter, are not in nextest's reports.
func listNextest(r io.Reader) ([]listed, error) {
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
	_, err := jsonstream.Documents(r, func(j *jsonstream.Reader) error { return j.Value(&list) })
	var out []listed
	for suite, s := range list.Suites {
		for name, c := range s.Cases {
			if c.Kind != "bench" {
				out = append(out, listed{suite, name, c.Ignored || c.Match.Status == "mismatch"})
			}
		}
	}
	return out, err
}

// listCTest reads ctest --show-only=json-v1.
func listCTest(r io.Reader) ([]listed, error) {
	var list struct {
		Tests []struct {
			Name string `json:"name"`
		} `json:"tests"`
	}
	_, err := jsonstream.Documents(r, func(j *jsonstream.Reader) error { return j.Value(&list) })
	var out []listed
	for _, t := range list.Tests {
		out = append(out, listed{name: t.Name})
	}
	return out, err
}

// listReport reads a report of tests that did not run.
func listReport(r io.Reader) ([]listed, error) {
	report, err := parsers.Parse(r, "the list of tests")
	if err != nil {
		return nil, err
	}
	var out []listed
	if report.Tests != nil {
		for _, t := range report.Tests.Cases {
			if strings.HasPrefix(t.Name, "example at ./") { // RSpec makes up its description at run time
				continue
			}
			out = append(out, listed{suite: t.Suite, name: strings.TrimSpace(t.Class + " " + t.Name)})
		}
	}
	return out, nil
}
