package parsers

import (
	"io"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/metric"
)

// ginkgoSuite is one suite of Ginkgo's JSON report, except for its specs.
type ginkgoSuite struct {
	path, description string
	succeeded         bool
	why               []text
	stated            *number
	took              number
	specs             []ginkgoSpec
	nodes             int // set-up and tear-down nodes that failed
}

type ginkgoSpec struct {
	Containers []text `json:"ContainerHierarchyTexts"`
	NodeType   string `json:"LeafNodeType"`
	Text       text   `json:"LeafNodeText"`
	Location   struct {
		FileName text   `json:"FileName"`
		Line     number `json:"LineNumber"`
	} `json:"LeafNodeLocation"`
	State    string `json:"State"`
	RunTime  number `json:"RunTime"` // nanoseconds
	Attempts number `json:"NumAttempts"`
	Must     number `json:"MaxMustPassRepeatedly"`
	Failure  *struct {
		Message        text `json:"Message"`
		ForwardedPanic text `json:"ForwardedPanic"`
		Location       struct {
			StackTrace text `json:"FullStackTrace"`
		} `json:"Location"`
	} `json:"Failure"`
}

func detectGinkgo(h sniff.Head) bool { return h.JSON("[].SuitePath", "[].SpecReports") }

func parseGinkgo(r io.Reader) (Report, error) {
	s := &outcomes{}
	return s.documents(r, "ginkgo", func(j *jsonstream.Reader) error {
		if j.Kind() != '[' {
			if err := j.Skip(); err != nil {
				return err
			}
			return otherShape(j, "this is no report of Ginkgo: it has no suites")
		}
		return j.Array(func() error {
			g := ginkgoSuite{}
			if err := g.read(j); err != nil {
				return err
			}
			if g.path == "" {
				return j.Error("this is no suite of Ginkgo: it has no path")
			}
			g.add(s)
			return nil
		})
	})
}

func (g *ginkgoSuite) read(j *jsonstream.Reader) error {
	return j.Object(func(name string) error {
		switch name {
		case "SuitePath":
			return j.Value(&g.path)
		case "SuiteDescription":
			return j.Value(&g.description)
		case "SuiteSucceeded":
			return j.Value(&g.succeeded)
		case "SpecialSuiteFailureReasons":
			return j.Value(&g.why)
		case "RunTime":
			return j.Value(&g.took)
		case "PreRunStats":
			var stats struct{ TotalSpecs *number }
			err := j.Value(&stats)
			g.stated = stats.TotalSpecs
			return err
		case "SpecReports":
			return j.Array(func() error {
				var spec ginkgoSpec
				if err := j.Value(&spec); err != nil {
					return err
				}
				g.specs = append(g.specs, spec)
				return nil
			})
		}
		return j.Skip()
	})
}

// ginkgoStates are the states of a spec. Unknown ones are errors.
var ginkgoStates = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "timedout": metric.Failed,
	"skipped": metric.Skipped, "pending": metric.Skipped,
	"panicked": metric.Errored, "aborted": metric.Errored, "interrupted": metric.Errored,
}

func (g *ginkgoSuite) add(s *outcomes) {
	bad, count := s.failed(), s.totals.Tests
	setup := false // what runs before all specs failed: they are not skipped on purpose
	for _, spec := range g.specs {
		t := spec.test(g.path)
		switch {
		case spec.NodeType != "It":
			if t.Status > metric.Skipped {
				g.nodes++
				setup = setup || strings.HasSuffix(spec.NodeType, "BeforeSuite")
				s.breaks(g.path, spec.NodeType+" failed: "+t.Message)
			}
		case setup && spec.State == "skipped":
			t.Message = "the set-up of the suite failed"
			s.addNotRun(t)
		case spec.State == "skipped" && ginkgoOrdered.MatchString(t.Message):
			s.addNotRun(t)
		default:
			s.add(t)
		}
	}
	if g.stated != nil {
		s.declares("specs", float64(*g.stated), s.totals.Tests-count)
	}
	switch {
	case len(g.why) > 0:
		s.breaks(g.path, joinTexts(g.why, "\n"))
	case !g.succeeded && g.nodes == 0 && s.failed() == bad:
		s.breaks(g.path, "ginkgo says that the suite failed although none of its specs did")
	}
	s.took += g.took.in(time.Nanosecond)
}

// ginkgoOrdered is why a spec was left out that nobody wanted to be skipped.
var ginkgoOrdered = regexp.MustCompile(`^Spec skipped because (an earlier spec in an ordered container|a BeforeAll node) failed`)

func (spec ginkgoSpec) test(suite string) metric.Test {
	var path []string
	for _, c := range spec.Containers {
		path = append(path, string(c))
	}
	out := metric.Test{
		ID:       metric.ID{Suite: suite, Class: describePath(path...), Name: string(spec.Text)},
		Status:   ginkgoStates[spec.State],
		Duration: spec.RunTime.in(time.Nanosecond),
		File:     string(spec.Location.FileName), Line: spec.Location.Line.whole(),
		Flaky: spec.State == "passed" && spec.Attempts > 1 && spec.Must <= 1,
	}
	if f := spec.Failure; f != nil {
		out.Message = joinTexts([]text{f.Message, f.ForwardedPanic, f.Location.StackTrace}, "\n")
	}
	if out.Status == 0 {
		out.Status, out.Message = metric.Errored, "it has the unknown state "+spec.State
	}
	return out
}
