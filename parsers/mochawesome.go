package parsers

import (
	"cmp"
	"io"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/metric"
)

// mochawesomeSuite is one file or group of mochawesome's report.
type mochawesomeSuite struct {
	Title       text               `json:"title"`
	File        text               `json:"file"`
	FullFile    text               `json:"fullFile"`
	BeforeHooks []mochawesomeTest  `json:"beforeHooks"`
	AfterHooks  []mochawesomeTest  `json:"afterHooks"`
	Tests       []mochawesomeTest  `json:"tests"`
	Suites      []mochawesomeSuite `json:"suites"`
}

type mochawesomeTest struct {
	Title    text   `json:"title"`
	Duration number `json:"duration"` // milliseconds
	State    string `json:"state"`
	Pass     bool   `json:"pass"`
	Fail     bool   `json:"fail"`
	Pending  bool   `json:"pending"`
	Skipped  bool   `json:"skipped"` // a hook before it failed
	Err      struct {
		Message text `json:"message"`
		Stack   text `json:"estack"`
	} `json:"err"`
}

func detectMochawesome(h sniff.Head) bool {
	return h.JSON("stats.passes", "results") && (h.JSON("meta.mochawesome") || h.JSON("stats.testsRegistered") || h.JSON("results.[].suites"))
}

func parseMochawesome(r io.Reader) (Report, error) {
	s := &outcomes{}
	return s.documents(r, "mochawesome", func(j *jsonstream.Reader) error {
		var stats struct {
			Tests    *number `json:"testsRegistered"` // the others leave out what did not run
			Duration number  `json:"duration"`
		}
		before, results := s.totals.Tests, false
		err := j.Object(func(name string) error {
			switch name {
			case "stats":
				return j.Value(&stats)
			case "results":
				results = true
				return j.Array(func() error { return readMochawesome(j, s) })
			}
			return j.Skip()
		})
		switch {
		case err != nil:
			return err
		case !results:
			return otherShape(j, "this is no report of mochawesome: it has no results")
		}
		if stats.Tests != nil {
			s.declares("tests", float64(*stats.Tests), s.totals.Tests-before)
		}
		s.took += stats.Duration.in(time.Millisecond)
		return nil
	})
}

func readMochawesome(j *jsonstream.Reader, s *outcomes) error {
	if j.Kind() != '{' { // false, where nothing ran
		return j.Skip()
	}
	var m mochawesomeSuite
	if err := j.Value(&m); err != nil {
		return err
	}
	m.add(s, "", nil)
	return nil
}

// place is the file, from the project's folder on: mochawesome cuts that off and
// leaves the slash.
func (m mochawesomeSuite) place() string {
	if m.File != "" && m.File != m.FullFile && strings.HasSuffix(string(m.FullFile), string(m.File)) {
		return strings.TrimLeft(string(m.File), `/\`)
	}
	return string(cmp.Or(m.File, m.FullFile))
}

func (m mochawesomeSuite) add(s *outcomes, file string, path []string) {
	file = cmp.Or(m.place(), file)
	path = append(path[:len(path):len(path)], string(m.Title))
	for _, hooks := range [][]mochawesomeTest{m.BeforeHooks, m.AfterHooks} {
		for _, h := range hooks {
			if h.Fail || h.State == "failed" {
				s.breaks(cmp.Or(file, describePath(path...)), string(h.Title)+": "+joinedMessage(string(h.Err.Message), string(h.Err.Stack)))
			}
		}
	}
	for _, t := range m.Tests {
		out := metric.Test{
			ID:       metric.ID{Suite: file, Class: describePath(path...), Name: string(t.Title)},
			Duration: t.Duration.in(time.Millisecond), Message: joinedMessage(string(t.Err.Message), string(t.Err.Stack)), File: file,
		}
		out.Status = t.status()
		if out.Status == metric.NotRun {
			out.Message = "a hook before it failed"
			s.addNotRun(out)
			continue
		}
		if out.Status == metric.Errored {
			out.Message = "the report does not say how it ended"
		}
		s.add(out)
	}
	for _, inner := range m.Suites {
		inner.add(s, file, path)
	}
}

func (t mochawesomeTest) status() metric.Status {
	switch {
	case t.Fail || t.State == "failed":
		return metric.Failed
	case t.Pending || t.State == "pending":
		return metric.Skipped
	case t.Skipped || t.State == "skipped":
		return metric.NotRun
	case t.Pass || t.State == "passed":
		return metric.Passed
	}
	return metric.Errored
}
