package testjson

import (
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// ginkgoSuite is one suite of Ginkgo's JSON report, except for its specs.
type ginkgoSuite struct {
	path, description string
	succeeded         bool
	why               []parsed.AnyText
	stated            *parsed.AnyNumber
	took              parsed.AnyNumber
	specs             []ginkgoSpec
	nodes             int // set-up and tear-down nodes that failed
}

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

func readGinkgo(d *document) error {
	return d.list("Ginkgo", func() error {
		g := ginkgoSuite{}
		if err := g.read(d.Reader); err != nil {
			return err
		}
		if g.path == "" {
			return d.Error("this is not a suite of Ginkgo: it has no path")
		}
		g.add(d.Outcomes)
		return nil
	})
}

func (g *ginkgoSuite) read(j *jsonstream.Reader) error {
	var stats struct{ TotalSpecs *parsed.AnyNumber }
	err := parsed.Members(j, map[string]any{
		"SuitePath": &g.path, "SuiteDescription": &g.description, "SuiteSucceeded": &g.succeeded,
		"SpecialSuiteFailureReasons": &g.why, "RunTime": &g.took, "PreRunStats": &stats,
		"SpecReports": parsed.Items(j, func(spec ginkgoSpec) { g.specs = append(g.specs, spec) }),
	})
	g.stated = stats.TotalSpecs
	return err
}

// ginkgoStates are the states of a spec. Unknown ones are errors.
var ginkgoStates = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "timedout": metric.Failed,
	"skipped": metric.Skipped, "pending": metric.Skipped,
	"panicked": metric.Errored, "aborted": metric.Errored, "interrupted": metric.Errored,
}

func (g *ginkgoSuite) add(s *parsed.Outcomes) {
	bad, count := s.Failed(), s.Totals.Tests
	setup := false // what runs before all specs failed: they are not skipped on purpose
	for _, spec := range g.specs {
		t := spec.test(g.path)
		switch {
		case spec.NodeType != "It":
			if t.Status > metric.Skipped {
				g.nodes++
				setup = setup || strings.HasSuffix(spec.NodeType, "BeforeSuite")
				s.Breaks(g.path, spec.NodeType+" failed: "+t.Message)
			}
		case setup && spec.State == "skipped":
			t.Message = "the set-up of the suite failed"
			s.AddNotRun(t)
		case spec.State == "skipped" && ginkgoOrdered.MatchString(t.Message):
			s.AddNotRun(t)
		default:
			s.Add(t)
		}
	}
	s.Stated("specs", g.stated, s.Totals.Tests-count)
	switch {
	case len(g.why) > 0:
		s.Breaks(g.path, parsed.JoinTexts(g.why, "\n"))
	case !g.succeeded && g.nodes == 0 && s.Failed() == bad:
		s.Breaks(g.path, "ginkgo says that the suite failed although none of its specs did")
	}
	s.Took += g.took.In(time.Nanosecond)
}

// ginkgoOrdered is the reason of a spec that did not run without being skipped.
var ginkgoOrdered = regexp.MustCompile(`^Spec skipped because (an earlier spec in an ordered container|a BeforeAll node) failed`)

func (spec ginkgoSpec) test(suite string) metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: suite, Class: parsed.JoinTexts(spec.Containers, " > "), Name: string(spec.Text)},
		Duration: spec.RunTime.In(time.Nanosecond), File: string(spec.Location.FileName), Line: spec.Location.Line.Int(),
		Flaky: spec.State == "passed" && spec.Attempts > 1 && spec.Must <= 1,
	}
	if f := spec.Failure; f != nil {
		out.Message = parsed.JoinTexts([]parsed.AnyText{f.Message, f.ForwardedPanic, f.Location.StackTrace}, "\n")
	}
	setStatus(&out, ginkgoStates, spec.State)
	return out
}
