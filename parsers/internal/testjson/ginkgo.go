package testjson

import (
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// ginkgoSuite is one suite of Ginkgo's JSON report.
type ginkgoSuite struct {
	path, description string
	succeeded         bool
	failureReasons    []parsed.AnyText
	statedSpecs       *parsed.AnyNumber // number of specs, nil if it is not stated
	runTime           parsed.AnyNumber  // nanoseconds
	specs             []ginkgoSpec
	failedNodes       int // number of set-up and tear-down nodes that failed
}

// ginkgoSpec is a node that ran: a spec, whose type is "It", or a set-up or tear-down.
type ginkgoSpec struct {
	Containers []parsed.AnyText `json:"ContainerHierarchyTexts"`
	NodeType   string           `json:"LeafNodeType"`
	Text       parsed.AnyText   `json:"LeafNodeText"`
	Location   struct {
		FileName parsed.AnyText   `json:"FileName"`
		Line     parsed.AnyNumber `json:"LineNumber"`
	} `json:"LeafNodeLocation"`
	State    string           `json:"State"`
	RunTime  parsed.AnyNumber `json:"RunTime"` // nanoseconds
	Attempts parsed.AnyNumber `json:"NumAttempts"`
	Must     parsed.AnyNumber `json:"MaxMustPassRepeatedly"`
	Failure  *struct {
		Message        parsed.AnyText `json:"Message"`
		ForwardedPanic parsed.AnyText `json:"ForwardedPanic"`
		Location       struct {
			StackTrace parsed.AnyText `json:"FullStackTrace"`
		} `json:"Location"`
	} `json:"Failure"`
}

// readGinkgo reads a list of suites.
func readGinkgo(d *document) error {
	return d.readList("Ginkgo", func() error {
		g := ginkgoSuite{}
		if err := g.read(d.Reader); err != nil {
			return err
		}
		if g.path == "" {
			return d.Error("this is not a suite of Ginkgo: it has no path")
		}
		g.addTo(d.Outcomes)
		return nil
	})
}

// read reads the next suite.
func (g *ginkgoSuite) read(j *jsonstream.Reader) error {
	var stats struct{ TotalSpecs *parsed.AnyNumber }
	err := parsed.ReadMembers(j, map[string]any{
		"SuitePath": &g.path, "SuiteDescription": &g.description, "SuiteSucceeded": &g.succeeded,
		"SpecialSuiteFailureReasons": &g.failureReasons, "RunTime": &g.runTime, "PreRunStats": &stats,
		"SpecReports": parsed.ItemReader(j, func(spec ginkgoSpec) { g.specs = append(g.specs, spec) }),
	})
	g.statedSpecs = stats.TotalSpecs
	return err
}

// ginkgoStatuses maps the states of a spec. Unknown ones are errors.
var ginkgoStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "timedout": metric.Failed,
	"skipped": metric.Skipped, "pending": metric.Skipped,
	"panicked": metric.Errored, "aborted": metric.Errored, "interrupted": metric.Errored,
}

// addTo adds the specs of the suite to the report, and marks the suite as broken if a
// node other than a spec failed.
func (g *ginkgoSuite) addTo(s *parsed.Outcomes) {
	before := s.Totals
	isSetUpBroken := false // the set-up of the suite failed, so that skipped specs did not run
	for _, spec := range g.specs {
		t := spec.toTest(g.path)
		switch {
		case spec.NodeType != "It":
			if t.Status > metric.Skipped {
				g.failedNodes++
				isSetUpBroken = isSetUpBroken || strings.HasSuffix(spec.NodeType, "BeforeSuite")
				s.AddBroken(g.path, spec.NodeType+" failed: "+t.Message)
			}
		case isSetUpBroken && spec.State == "skipped":
			t.Message = "the set-up of the suite failed"
			s.AddNotRun(t)
		case spec.State == "skipped" && ginkgoNotRunPattern.MatchString(t.Message):
			s.AddNotRun(t)
		default:
			s.Add(t)
		}
	}

	added := s.Totals.Minus(before)
	s.CheckOptionalTotal("specs", g.statedSpecs, added.Tests)
	switch {
	case len(g.failureReasons) > 0:
		s.AddBroken(g.path, parsed.JoinTexts(g.failureReasons, "\n"))
	case !g.succeeded && g.failedNodes == 0 && added.Unsuccessful() == 0:
		s.AddBroken(g.path, "ginkgo says that the suite failed although none of its specs did")
	}
	s.Duration += g.runTime.In(time.Nanosecond)
}

// ginkgoNotRunPattern matches the message of a spec that did not run because another failed:
// "Spec skipped because a BeforeAll node failed".
var ginkgoNotRunPattern = regexp.MustCompile(`^Spec skipped because (an earlier spec in an ordered container|a BeforeAll node) failed`)

// toTest returns the test of a node. A pass after several attempts is flaky, unless the spec
// has to pass repeatedly.
func (spec ginkgoSpec) toTest(suite string) metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: suite, Class: parsed.JoinTexts(spec.Containers, " > "), Name: string(spec.Text)},
		Duration: spec.RunTime.In(time.Nanosecond), File: string(spec.Location.FileName), Line: spec.Location.Line.Int(),
		Flaky: spec.State == "passed" && spec.Attempts > 1 && spec.Must <= 1,
	}
	if f := spec.Failure; f != nil {
		out.Message = parsed.JoinTexts([]parsed.AnyText{f.Message, f.ForwardedPanic, f.Location.StackTrace}, "\n")
	}
	setStatus(&out, ginkgoStatuses, spec.State)
	return out
}
