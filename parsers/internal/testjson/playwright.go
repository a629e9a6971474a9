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

// playwrightSuite is a file or a describe block of Playwright's JSON reporter.
// It is read spec by spec, since pictures may be part of it.
type playwrightSuite struct {
	title, file parsed.AnyText
	specs       []playwrightSpec
	suites      []playwrightSuite
}

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

type playwrightAnnotation struct {
	Type        parsed.AnyText `json:"type"`
	Description parsed.AnyText `json:"description"`
}

// playwrightError is one that belongs to no test: of a file that cannot be
// loaded, of the global set-up, of the configuration.
type playwrightError struct {
	Message  parsed.AnyText `json:"message"`
	Stack    parsed.AnyText `json:"stack"`
	Value    parsed.AnyText `json:"value"`
	Location *struct {
		File parsed.AnyText `json:"file"`
	} `json:"location"`
}

type playwrightReport struct {
	config struct {
		RootDir parsed.AnyText `json:"rootDir"`
	}
	errors  []playwrightError
	stats   map[string]parsed.AnyNumber
	classes map[string]int // tests by their status
	set     *parsed.Outcomes
}

func readPlaywright(d *document) error {
	p := playwrightReport{set: d.Outcomes, classes: map[string]int{}}
	err := d.members("Playwright", []string{"suites"}, map[string]any{
		"errors": &p.errors, "stats": &p.stats, "config": &p.config,
		"suites": func() error {
			return d.Array(func() error {
				var s playwrightSuite
				err := s.read(d.Reader)
				if err == nil {
					p.suite(s, string(s.file), nil)
				}
				return err
			})
		},
	})
	if err == nil {
		p.end()
	}
	return err
}

func (s *playwrightSuite) read(j *jsonstream.Reader) error {
	return parsed.Members(j, map[string]any{
		"title": &s.title, "file": &s.file,
		"specs": parsed.Items(j, func(spec playwrightSpec) { s.specs = append(s.specs, spec) }),
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

// suite takes a file, whose title is its name, and the groups in it.
func (p *playwrightReport) suite(s playwrightSuite, file string, path []string) {
	for _, spec := range s.specs {
		for _, t := range spec.Tests {
			p.test(t, spec, metric.ID{
				Suite: cmp.Or(file, string(spec.File)),
				Class: parsed.GroupPath(append([]string{string(t.ProjectName)}, path...)...),
				Name:  string(spec.Title),
			})
		}
	}
	for _, inner := range s.suites {
		p.suite(inner, cmp.Or(file, string(inner.file)), append(path[:len(path):len(path)], string(inner.title)))
	}
}

// playwrightStatuses are the outcomes after all attempts: what was expected to
// fail and failed passed.
var playwrightStatuses = map[string]metric.Status{
	"expected": metric.Passed, "flaky": metric.Passed, "unexpected": metric.Failed, "skipped": metric.Skipped,
}

func (p *playwrightReport) test(t playwrightTest, spec playwrightSpec, id metric.ID) {
	p.classes[t.Status]++
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
		out.Message = t.reason()
	case out.Status == metric.Passed && !out.Flaky:
		out.Message = ""
	}
	p.set.Add(out)
}

// reason is why a test is skipped.
func (t playwrightTest) reason() string {
	for _, a := range t.Annotations {
		if a.Description != "" {
			return string(a.Description)
		}
	}
	return ""
}

func (p *playwrightReport) end() {
	for _, e := range p.errors {
		why := parsed.JoinMessage(string(cmp.Or(e.Message, e.Value)), string(e.Stack))
		if e.Location == nil || e.Location.File == "" {
			p.set.Failure = cmp.Or(p.set.Failure, why)
			continue
		}
		p.set.Breaks(p.relative(string(e.Location.File)), why)
	}
	for _, name := range slices.Sorted(maps.Keys(playwrightStatuses)) {
		n, stated := p.stats[name]
		switch {
		case stated && playwrightStatuses[name] == metric.Failed:
			p.set.Fails(name+" tests", float64(n), p.classes[name])
		case stated:
			p.set.Declares(name+" tests", float64(n), p.classes[name])
		}
	}
	p.set.Took += p.stats["duration"].In(time.Millisecond)
}

// relative names a file as the suites do.
func (p *playwrightReport) relative(file string) string {
	file, root := strings.ReplaceAll(file, `\`, "/"), strings.ReplaceAll(string(p.config.RootDir), `\`, "/")
	if rest, inside := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); inside && root != "" {
		return rest
	}
	return file
}
