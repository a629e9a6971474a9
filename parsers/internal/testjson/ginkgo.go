package testjson

import (
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readGinkgo reads a list of suites. The specs of a suite are nodes that ran: one with the type
// "It" is a test, and others are set-ups and tear-downs.
//
//	[{"SuitePath": "/p", "SuiteSucceeded": true, "PreRunStats": {"TotalSpecs": 1}, "SpecReports": [{
//	  "ContainerHierarchyTexts": ["Calc"], "LeafNodeType": "It", "LeafNodeText": "adds", "State": "passed", "RunTime": 1000,
//	  "LeafNodeLocation": {"FileName": "/p/a_test.go", "LineNumber": 3}, "NumAttempts": 1}]}]
func readGinkgo(d *document) error {
	return d.readList("Ginkgo", func(suite item) error {
		if suite.text("SuitePath") == "" {
			return d.Error("this is not a suite of Ginkgo: it has no path")
		}
		addGinkgoSuite(d.Outcomes, suite)
		return nil
	})
}

// ginkgoStatuses maps the states of a spec. Unknown ones are errors.
var ginkgoStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "timedout": metric.Failed,
	"skipped": metric.Skipped, "pending": metric.Skipped,
	"panicked": metric.Errored, "aborted": metric.Errored, "interrupted": metric.Errored,
}

// addGinkgoSuite adds the specs of a suite to the report, and marks the suite as broken if a
// node other than a spec failed.
func addGinkgoSuite(s *parsed.Outcomes, suite item) {
	path, before, brokenBefore := suite.text("SuitePath"), s.Totals, len(s.Broken)
	isSetUpBroken := false // the set-up of the suite failed, so that skipped specs did not run
	for _, spec := range suite.list("SpecReports") {
		t, kind := ginkgoTest(spec, path), spec.text("LeafNodeType")
		isSkipped := spec.text("State") == "skipped"
		switch {
		case kind != "It":
			if t.Status > metric.Skipped {
				isSetUpBroken = isSetUpBroken || strings.HasSuffix(kind, "BeforeSuite")
				s.AddBroken(path, kind+" failed: "+t.Message)
			}
		case isSetUpBroken && isSkipped:
			t.Message = "the set-up of the suite failed"
			s.AddNotRun(t)
		case isSkipped && ginkgoNotRunPattern.MatchString(t.Message):
			s.AddNotRun(t)
		default:
			s.Add(t)
		}
	}

	added := s.Totals.Minus(before)
	s.CheckTotal("specs", suite.total("PreRunStats.TotalSpecs"), added.Tests)
	nothingFailed := len(s.Broken) == brokenBefore && added.Unsuccessful() == 0
	switch reasons := suite.list("SpecialSuiteFailureReasons"); {
	case len(reasons) > 0:
		s.AddBroken(path, suite.text("SpecialSuiteFailureReasons"))
	case !suite.isTrue("SuiteSucceeded") && nothingFailed:
		s.AddBroken(path, "ginkgo says that the suite failed although none of its specs did")
	}
	s.Duration += suite.number("RunTime").In(time.Nanosecond)
}

// ginkgoNotRunPattern matches the message of a spec that did not run because another failed:
// "Spec skipped because a BeforeAll node failed".
var ginkgoNotRunPattern = regexp.MustCompile(`^Spec skipped because (an earlier spec in an ordered container|a BeforeAll node) failed`)

// ginkgoTest returns the test of a node. A pass after several attempts is flaky, unless the spec
// has to pass repeatedly.
func ginkgoTest(spec item, suite string) metric.Test {
	state, failure := spec.text("State"), spec.at("Failure")
	out := metric.Test{
		ID:       metric.ID{Suite: suite, Class: parsed.JoinGroups(spec.texts("ContainerHierarchyTexts")...), Name: spec.text("LeafNodeText")},
		Duration: spec.number("RunTime").In(time.Nanosecond),
		File:     spec.text("LeafNodeLocation.FileName"), Line: spec.integer("LeafNodeLocation.LineNumber"),
		Message: joinLines(failure.text("Message"), failure.text("ForwardedPanic"), failure.text("Location.FullStackTrace")),
		Flaky:   state == "passed" && spec.number("NumAttempts") > 1 && spec.number("MaxMustPassRepeatedly") <= 1,
	}
	setStatus(&out, ginkgoStatuses, state)
	return out
}
