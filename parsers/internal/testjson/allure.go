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

// allureResult is the file that Allure 2 writes for one attempt of a test.
type allureResult struct {
	UUID      string  `json:"uuid"`
	History   string  `json:"historyId"`
	Name      string  `json:"name"`
	FullName  string  `json:"fullName"`
	Status    string  `json:"status"`
	StartTime float64 `json:"start"` // milliseconds since 1970
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

// allureAttempt is the test of one result, with the ID of its history, "" for none, and the
// time at which it started.
type allureAttempt struct {
	test    metric.Test
	history string
	start   float64
}

// parseAllure reads one result file of Allure, or several of them in one text. Results with
// the same history are attempts of one test.
func parseAllure(r io.Reader) (parsed.Report, error) {
	var s parsed.Outcomes
	var attempts []allureAttempt
	producer := "allure"
	report, err := s.ReadDocuments(r, &producer, func(j *jsonstream.Reader) error {
		var a allureResult
		if err := j.Value(&a); err != nil {
			return err
		}
		if a.UUID == "" || a.Name == "" && a.FullName == "" {
			return parsed.ShapeError(j, "this is no result of Allure: it has no uuid, or no name")
		}
		attempts = parsed.AppendLimited(attempts, allureAttempt{a.toTest(&s), a.History, a.StartTime})
		return nil
	})
	if len(attempts) == 0 {
		return report, err
	}

	slices.SortStableFunc(attempts, func(a, b allureAttempt) int {
		return cmp.Or(cmp.Compare(a.history, b.history), cmp.Compare(a.start, b.start))
	})
	for i, a := range attempts {
		a.test.Rerun = i > 0 && a.history != "" && a.history == attempts[i-1].history
		s.Add(a.test)
	}
	return s.Report(producer), err
}

// allureStatuses maps the statuses of Allure.
var allureStatuses = map[string]metric.Status{"passed": metric.Passed, "failed": metric.Failed, "broken": metric.Errored, "skipped": metric.Skipped}

// toTest returns the test of a result. An unknown status is an error of the test, and a problem
// in s.
func (a *allureResult) toTest(s *parsed.Outcomes) metric.Test {
	labels := map[string]string{}
	for _, l := range a.Labels {
		labels[l.Name] = cmp.Or(labels[l.Name], string(l.Value))
	}
	t := metric.Test{
		ID: metric.ID{
			Suite: cmp.Or(parsed.JoinGroups(labels["parentSuite"], labels["suite"]), labels["package"]),
			Class: labels["subSuite"],
			Name:  cmp.Or(a.Name, a.FullName) + a.parameterSuffix(labels["framework"]),
		},
		Duration: parsed.Seconds((a.StopTime - a.StartTime) / float64(time.Second/time.Millisecond)),
	}
	if t.Status = allureStatuses[a.Status]; t.Status == 0 {
		t.Status = metric.Errored
		s.Problems.Add("test %q has the status %q: it counts as an error", t.Name, a.Status)
	}
	if t.Status != metric.Passed {
		t.Message = parsed.JoinMessage(string(a.Details.Message), string(a.Details.Trace))
	}
	return parsed.CleanTest(t)
}

// parameterSuffix returns the parameters of the test as "(a=1, b=2)", "" for none. They
// distinguish the cases of a parameterized test. pytest has them in the name already.
func (a *allureResult) parameterSuffix(framework string) string {
	if framework == "pytest" && strings.HasSuffix(a.Name, "]") {
		return ""
	}
	var parameters []string
	for _, p := range a.Parameters {
		if !p.Excluded {
			parameters = append(parameters, p.Name+"="+string(p.Value))
		}
	}
	if len(parameters) == 0 {
		return ""
	}
	return "(" + strings.Join(parameters, ", ") + ")"
}
