package testjson

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// allureResult is what Allure 2 keeps of one attempt of a test, in its own file.
type allureResult struct {
	UUID      string  `json:"uuid"`
	History   string  `json:"historyId"`
	Name      string  `json:"name"`
	FullName  string  `json:"fullName"`
	Status    *string `json:"status"`
	StartTime float64 `json:"start"` // in milliseconds
	StopTime  float64 `json:"stop"`
	Details   struct {
		Message parsed.AnyText `json:"message"`
		Trace   parsed.AnyText `json:"trace"`
	} `json:"statusDetails"`
	Labels []struct {
		Name  string         `json:"name"`
		Value parsed.AnyText `json:"value"`
	} `json:"labels"`
	Parameters []struct {
		Name     string         `json:"name"`
		Value    parsed.AnyText `json:"value"`
		Excluded bool           `json:"excluded"`
	} `json:"parameters"`
}

type allureAttempt struct {
	test    metric.Test
	history string
	start   float64
}

// parseAllure reads one result of Allure, or several of them in one text. Attempts of one
// test are those with one history.
func parseAllure(r io.Reader) (parsed.Report, error) {
	var s parsed.Outcomes
	var list []allureAttempt
	producer := "allure"
	report, err := s.Documents(r, &producer, func(j *jsonstream.Reader) error {
		var a allureResult
		err := j.Value(&a)
		if err == nil && (a.UUID == "" || a.Name == "" && a.FullName == "") {
			return parsed.OtherShape(j, "this is no result of Allure: it has no uuid, or no name")
		}
		if err == nil {
			list = parsed.Keep(list, allureAttempt{a.test(&s), a.History, a.StartTime})
		}
		return err
	})
	if len(list) == 0 {
		return report, err
	}
	slices.SortStableFunc(list, func(a, b allureAttempt) int {
		return cmp.Or(cmp.Compare(a.history, b.history), cmp.Compare(a.start, b.start))
	})
	for i, a := range list {
		a.test.Rerun = i > 0 && a.history != "" && a.history == list[i-1].history
		s.Add(a.test)
	}
	return s.Report(producer), err
}

var allureOutcomes = map[string]metric.Status{"passed": metric.Passed, "failed": metric.Failed, "broken": metric.Errored, "skipped": metric.Skipped}

func (a *allureResult) test(s *parsed.Outcomes) metric.Test {
	labels := map[string]string{}
	for _, l := range a.Labels {
		labels[l.Name] = cmp.Or(labels[l.Name], string(l.Value))
	}
	t := metric.Test{
		ID: metric.ID{
			Suite: cmp.Or(parsed.GroupPath(labels["parentSuite"], labels["suite"]), labels["package"]),
			Class: labels["subSuite"],
			Name:  cmp.Or(a.Name, a.FullName) + a.arguments(labels["framework"]),
		},
		Duration: parsed.Seconds((a.StopTime - a.StartTime) / float64(time.Second/time.Millisecond)),
	}
	word := ""
	if a.Status != nil {
		word = *a.Status
	}
	known := false
	if t.Status, known = allureOutcomes[word]; !known {
		t.Status = metric.Errored
		s.Problems.Add("test %q has the status %q: it counts as an error", t.Name, word)
	}
	if t.Status != metric.Passed {
		t.Message = parsed.JoinMessage(string(a.Details.Message), string(a.Details.Trace))
	}
	return parsed.CleanTest(t)
}

// arguments tells the cases of one test apart. pytest has them in the name, unless it was
// given another one.
func (a *allureResult) arguments(framework string) string {
	if framework == "pytest" && strings.HasSuffix(a.Name, "]") {
		return ""
	}
	var list []string
	for _, p := range a.Parameters {
		if !p.Excluded {
			list = append(list, p.Name+"="+string(p.Value))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}
