package parsers

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/metric"
)

// karmaTest is one test in one browser of karma-json-reporter and its kin.
type karmaTest struct {
	Description text     `json:"description"`
	Suite       []string `json:"suite"`
	Log         []text   `json:"log"`
	Skipped     bool     `json:"skipped"`
	Disabled    bool     `json:"disabled"`
	Pending     bool     `json:"pending"`
	Success     bool     `json:"success"`
	Time        number   `json:"time"` // milliseconds
}

type karmaBrowser struct {
	Name       text `json:"name"`
	LastResult *struct {
		Total        *number `json:"total"`
		Error        bool    `json:"error"`
		Disconnected bool    `json:"disconnected"`
	} `json:"lastResult"`
}

type karmaReport struct {
	browsers map[string]karmaBrowser
	results  map[string][]karmaTest
	summary  *struct {
		Success      *number `json:"success"`
		Failed       *number `json:"failed"`
		Skipped      *number `json:"skipped"`
		Error        bool    `json:"error"`
		Disconnected bool    `json:"disconnected"`
	}
}

func detectKarma(h sniff.Head) bool {
	return h.JSON("browsers", "result", "summary") || h.JSON("browsers.*.lastResult", "result")
}

func parseKarma(r io.Reader) (Report, error) {
	s := &outcomes{}
	return s.documents(r, "karma", func(j *jsonstream.Reader) error {
		var k karmaReport
		err := j.Object(func(name string) error {
			switch name {
			case "browsers":
				return j.Value(&k.browsers)
			case "result":
				return j.Value(&k.results)
			case "summary":
				return j.Value(&k.summary)
			}
			return j.Skip()
		})
		switch {
		case err != nil:
			return err
		case k.results == nil || k.summary == nil:
			return otherShape(j, "this is no report of karma: it has no result or no summary")
		}
		k.add(s)
		return nil
	})
}

func (k karmaReport) add(s *outcomes) {
	before := s.totals
	for _, id := range slices.Sorted(maps.Keys(k.results)) {
		name, count := k.browsers[id].short(), s.totals.Tests
		for _, t := range k.results[id] {
			s.add(t.test(name))
		}
		last := k.browsers[id].LastResult
		if last == nil {
			continue
		}
		if last.Total != nil {
			s.declares("tests in "+name, float64(*last.Total), s.totals.Tests-count)
		}
		if last.Disconnected {
			s.breaks(name, "the browser was disconnected before its tests had run")
		}
	}
	for _, c := range []struct {
		what    string
		stated  *number
		counted int
	}{
		{"passed tests", k.summary.Success, s.totals.Passed - before.Passed},
		{"failed tests", k.summary.Failed, s.totals.Failed - before.Failed},
		{"skipped tests", k.summary.Skipped, s.totals.Skipped - before.Skipped},
	} {
		if c.stated != nil {
			s.declares(c.what, float64(*c.stated), c.counted)
		}
	}
	if (k.summary.Error || k.summary.Disconnected) && s.totals.Failed == before.Failed && len(s.broken) == 0 {
		s.failure = "karma says that there was an error although no test failed"
	}
}

var karmaVersion = regexp.MustCompile(`\s+\d.*$`)

// short is the name of the browser without its version, which changes more
// often than the tests do.
func (b karmaBrowser) short() string { return karmaVersion.ReplaceAllString(string(b.Name), "") }

func (t karmaTest) test(browser string) metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: browser, Class: describePath(t.Suite...), Name: string(t.Description)},
		Duration: t.Time.in(time.Millisecond), Message: strings.TrimSpace(joinTexts(t.Log, "\n")),
	}
	switch {
	case t.Skipped || t.Disabled || t.Pending:
		out.Status = metric.Skipped
	case t.Success:
		out.Status, out.Message = metric.Passed, ""
	default:
		out.Status = metric.Failed
	}
	return out
}
