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

// allureAttempt is the test of one result, with the ID of its history, "" for none, and the
// time at which it started, in milliseconds since 1970.
type allureAttempt struct {
	test    metric.Test
	history string
	start   parsed.AnyNumber
}

// parseAllure reads one result file of Allure 2, or several of them in one text:
//
//	{"uuid": "…", "historyId": "…", "name": "adds", "status": "passed", "start": 1700000000000, "stop": 1700000000100,
//	 "labels": [{"name": "suite", "value": "calc"}], "parameters": [{"name": "a", "value": "1"}]}
//
// Results with the same history are attempts of one test.
func parseAllure(r io.Reader) (parsed.Report, error) {
	var s parsed.Outcomes
	var attempts []allureAttempt
	producer := "allure"
	report, err := s.ReadDocuments(r, &producer, func(j *jsonstream.Reader) error {
		value, err := decode(j)
		if err != nil {
			return err
		}
		result := item{value, new(string)}
		if result.text("uuid") == "" || result.text("name")+result.text("fullName") == "" {
			return parsed.ShapeError(j, "this is no result of Allure: it has no uuid, or no name")
		}
		attempts = parsed.AppendLimited(attempts, allureAttempt{allureTest(result, &s), result.text("historyId"), result.number("start")})
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

// allureTest returns the test of a result. An unknown status is an error of the test, and a
// problem in s.
func allureTest(result item, s *parsed.Outcomes) metric.Test {
	labels := map[string]string{}
	for _, l := range result.list("labels") {
		labels[l.text("name")] = cmp.Or(labels[l.text("name")], l.text("value"))
	}
	t := metric.Test{
		ID: metric.ID{
			Suite: cmp.Or(parsed.JoinGroups(labels["parentSuite"], labels["suite"]), labels["package"]),
			Class: labels["subSuite"],
			Name:  cmp.Or(result.text("name"), result.text("fullName")) + allureParameters(result, labels["framework"]),
		},
		Duration: (result.number("stop") - result.number("start")).In(time.Millisecond),
	}
	word := result.text("status")
	if t.Status = allureStatuses[word]; t.Status == 0 {
		t.Status = metric.Errored
		s.Problems.Add("test %q has the status %q: it counts as an error", t.Name, word)
	}
	if t.Status != metric.Passed {
		t.Message = result.message("statusDetails.message", "statusDetails.trace")
	}
	return parsed.CleanTest(t)
}

// allureParameters returns the parameters of the test as "(a=1, b=2)", "" for none. They
// distinguish the cases of a parameterized test. pytest has them in the name already.
func allureParameters(result item, framework string) string {
	var parameters []string
	for _, p := range result.list("parameters") {
		if !p.isTrue("excluded") {
			parameters = append(parameters, p.text("name")+"="+p.text("value"))
		}
	}
	isInName := framework == "pytest" && strings.HasSuffix(result.text("name"), "]")
	if len(parameters) == 0 || isInName {
		return ""
	}
	return "(" + strings.Join(parameters, ", ") + ")"
}
