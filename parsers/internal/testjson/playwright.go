package testjson

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// playwrightSuite is a file or a describe block in the report of Playwright's JSON
// reporter. It is read spec by spec, since specs may contain screenshots.
type playwrightSuite struct {
	title, file parsed.AnyText
	specs       []playwrightSpec
	suites      []playwrightSuite
}

// playwrightSpec is one test as it is written, which may run in several projects.
type playwrightSpec struct {
	Title parsed.AnyText   `json:"title"`
	File  parsed.AnyText   `json:"file"`
	Line  parsed.AnyNumber `json:"line"`
	Tests []playwrightTest `json:"tests"`
}

// playwrightTest is one spec in one project, with all its attempts.
type playwrightTest struct {
	ExpectedStatus string                 `json:"expectedStatus"`
	ProjectName    parsed.AnyText         `json:"projectName"`
	Status         string                 `json:"status"`
	Annotations    []playwrightAnnotation `json:"annotations"`
	Results        []struct {
		Status   string           `json:"status"`
		Duration parsed.AnyNumber `json:"duration"` // milliseconds
		Error    parsed.AnyText   `json:"error"`
		Errors   []parsed.AnyText `json:"errors"`
	} `json:"results"`
}

// playwrightAnnotation is a note about a test, such as the reason for a skip.
type playwrightAnnotation struct {
	Type        parsed.AnyText `json:"type"`
	Description parsed.AnyText `json:"description"`
}

// playwrightError is an error outside of all tests: in a file that cannot be loaded, in the
// global set-up or in the configuration.
type playwrightError struct {
	Message  parsed.AnyText `json:"message"`
	Stack    parsed.AnyText `json:"stack"`
	Value    parsed.AnyText `json:"value"`
	Location *struct {
		File parsed.AnyText `json:"file"`
	} `json:"location"`
}

// playwrightReport has the members of a report that are checked after all suites.
type playwrightReport struct {
	config struct {
		RootDir parsed.AnyText `json:"rootDir"`
	}
	errors       []playwrightError
	stats        map[string]parsed.AnyNumber // stated totals, by status, and the duration in milliseconds
	statusCounts map[string]int              // number of tests, by status
	set          *parsed.Outcomes
}

// readPlaywright reads a report of Playwright suite by suite.
func readPlaywright(d *document) error {
	p := playwrightReport{set: d.Outcomes, statusCounts: map[string]int{}}
	err := d.readMembers("Playwright", []string{"suites"}, map[string]any{
		"errors": &p.errors, "stats": &p.stats, "config": &p.config,
		"suites": func() error {
			return d.Array(func() error {
				var s playwrightSuite
				err := s.read(d.Reader)
				if err == nil {
					p.addSuite(s, string(s.file), nil)
				}
				return err
			})
		},
	})
	if err == nil {
		p.checkReport()
	}
	return err
}

// read reads the next suite with the suites in it.
func (s *playwrightSuite) read(j *jsonstream.Reader) error {
	return parsed.ReadMembers(j, map[string]any{
		"title": &s.title, "file": &s.file,
		"specs": parsed.ItemReader(j, func(spec playwrightSpec) { s.specs = append(s.specs, spec) }),
		"suites": func() error {
			return j.Array(func() error {
				var inner playwrightSuite
				err := inner.read(j)
				s.suites = append(s.suites, inner)
				return err
			})
		},
	})
}

// addSuite adds the tests of a file or group and of the groups in it. Path has the titles
// of the enclosing groups.
func (p *playwrightReport) addSuite(s playwrightSuite, file string, path []string) {
	for _, spec := range s.specs {
		for _, t := range spec.Tests {
			p.addTest(t, spec, metric.ID{
				Suite: cmp.Or(file, string(spec.File)),
				Class: parsed.JoinGroups(append([]string{string(t.ProjectName)}, path...)...),
				Name:  string(spec.Title),
			})
		}
	}
	for _, inner := range s.suites {
		p.addSuite(inner, cmp.Or(file, string(inner.file)), append(path[:len(path):len(path)], string(inner.title)))
	}
}

// playwrightStatuses maps the outcomes after all attempts. A test that was expected to
// fail and did has passed.
var playwrightStatuses = map[string]metric.Status{
	"expected": metric.Passed, "flaky": metric.Passed, "unexpected": metric.Failed, "skipped": metric.Skipped,
}

// addTest adds a test of the spec with its identity. Its message is that of the last attempt
// with an error.
func (p *playwrightReport) addTest(t playwrightTest, spec playwrightSpec, id metric.ID) {
	p.statusCounts[t.Status]++
	out := metric.Test{ID: id, File: id.Suite, Line: spec.Line.Int(), Flaky: t.Status == "flaky"}
	last := ""
	for _, r := range t.Results {
		out.Duration += r.Duration.In(time.Millisecond)
		if len(r.Errors) == 0 {
			r.Errors = []parsed.AnyText{r.Error}
		}
		out.Message = cmp.Or(parsed.JoinTexts(r.Errors, "\n"), out.Message)
		last = r.Status
	}

	setStatus(&out, playwrightStatuses, t.Status)
	switch {
	case out.Status == metric.Failed && last == "passed":
		out.Message = "it passed and was expected to fail"
	case out.Status == metric.Skipped && t.ExpectedStatus != "skipped":
		out.Message = cmp.Or(out.Message, "it did not run: something before it failed")
		p.set.AddNotRun(out)
		return
	case out.Status == metric.Skipped:
		out.Message = t.skipReason()
	case out.Status == metric.Passed && !out.Flaky:
		out.Message = ""
	}

	p.set.Add(out)
}

// skipReason returns the first description among the annotations, "" if there is none.
func (t playwrightTest) skipReason() string {
	for _, a := range t.Annotations {
		if a.Description != "" {
			return string(a.Description)
		}
	}
	return ""
}

// checkReport adds the errors outside of tests, and compares the totals.
func (p *playwrightReport) checkReport() {
	for _, e := range p.errors {
		message := parsed.JoinMessage(string(cmp.Or(e.Message, e.Value)), string(e.Stack))
		if e.Location == nil || e.Location.File == "" {
			p.set.Failure = cmp.Or(p.set.Failure, message)
			continue
		}
		p.set.AddBroken(p.relativePath(string(e.Location.File)), message)
	}
	for _, name := range slices.Sorted(maps.Keys(playwrightStatuses)) {
		n, stated := p.stats[name]
		switch {
		case stated && playwrightStatuses[name] == metric.Failed:
			p.set.CheckFailures(name+" tests", float64(n), p.statusCounts[name])
		case stated:
			p.set.CheckTotal(name+" tests", float64(n), p.statusCounts[name])
		}
	}
	p.set.Duration += p.stats["duration"].In(time.Millisecond)
}

// relativePath returns a path relative to the root folder of the report, as suites have it.
func (p *playwrightReport) relativePath(file string) string {
	file, root := strings.ReplaceAll(file, `\`, "/"), strings.ReplaceAll(string(p.config.RootDir), `\`, "/")
	if rest, inside := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); inside && root != "" {
		return rest
	}
	return file
}
