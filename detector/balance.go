package detector

import (
	"slices"
	"strings"

	"supervise/metric"
)

// Balance is a tree beside the one that the user handed over: the baseline, or a later
// tree that a person approved. What was explained or accepted does not count.
type Balance struct {
	Passing int     `json:"tests_passed_delta"` // how many more tests pass
	Failing int     `json:"tests_failed_delta"` // how many more fail
	Settled int     `json:"settled,omitempty"`  // tests that need not be there or pass any more
	Costs   []Alert `json:"costs,omitempty"`    // measured findings against it that are HIGH or worse
	// Approved says that a person kept the iteration, whatever it lost.
	Approved bool `json:"approved,omitempty"`
	// Since is the iteration that it is beside, 0 for the baseline.
	Since int `json:"since,omitempty"`
}

// costly are the rules about numbers whose findings are costs.
var costly = []string{"coverage_regression", "error_increase", "build_broken"}

// Weigh compares the current tree of in with the baseline. It is nil where there is no
// baseline.
func Weigh(in Input, o Options) *Balance {
	return newJudge(in, o.WithDefaults()).beside(nil)
}

// beside does so for a tree that lost some tests with an explanation.
func (j *judge) beside(losses []Loss) *Balance {
	from := j.in.Baseline
	if from.Set.Empty() && !from.Scored || j.in.Current.Iteration == 0 {
		return nil
	}
	for _, o := range j.in.History {
		if o.Approved {
			from = o
		}
	}
	b := &Balance{Since: from.Iteration}
	before, now := sorted(from.Set.Tests), j.now.Tests
	switch {
	case before != nil && now != nil:
		b.count(before, now, lost{j.lostSince(from.Iteration, losses), j.flakyAlone(before), nil})
	case now != nil:
		b.Passing = now.Counts().Passed
	case before != nil:
		b.Passing = -before.Counts().Passed
	}
	c := comparison{against: AgainstBaseline, before: from.Set, now: j.now, delta: j.now.Sub(from.Set), whole: true}
	for _, name := range costly {
		r, _ := RuleNamed(name)
		if j.opts.Mode == ModeOff {
			break
		}
		for _, a := range j.apply(r, c) {
			for _, part := range j.acknowledge(a) {
				if part.Severity >= High {
					b.Costs = append(b.Costs, part)
				}
			}
		}
	}
	return b
}

// lostSince joins the settled losses of the accepted iterations after one, and of the
// current one.
func (j *judge) lostSince(n int, losses []Loss) map[metric.ID]Loss {
	out := map[metric.ID]Loss{}
	for _, o := range j.in.History {
		if o.Iteration > n {
			losses = append(o.Settled[:len(o.Settled):len(o.Settled)], losses...)
		}
	}
	for _, l := range losses {
		out[l.ID] = l
	}
	return out
}

// flakyAlone reports which tests fail for no other reason than that they are flaky.
func (j *judge) flakyAlone(before *metric.Tests) func(metric.ID) bool {
	known := knownFlaky(before, j.in.KnownFlaky)
	return func(id metric.ID) bool { return known[id] && !j.touched(id) }
}

// lost is what need not be there, or pass, any more.
type lost struct {
	settled map[metric.ID]Loss
	flaky   func(metric.ID) bool
	heirs   map[metric.ID]bool // tests that replace others, and whether they pass
}

// count compares the tests one by one.
func (b *Balance) count(before, now *metric.Tests, l lost) {
	was, is := before.Counts(), now.Counts()
	b.Passing, b.Failing = is.Passed-was.Passed, is.Failed-was.Failed
	l.heirs = map[metric.ID]bool{}
	for _, c := range before.Cases {
		t, there := now.Lookup(c.ID)
		if there && !l.excuses(t) || !there && !l.replaced(c.ID, before, now) {
			continue
		}
		b.Settled++
		if c.Status == metric.Passed {
			b.Passing++
		}
		if t.Failed() && !c.Failed() {
			b.Failing--
		}
	}
	for _, passes := range l.heirs { // no gain
		if passes {
			b.Passing--
		}
	}
}

// excuses reports whether a test that is there need not pass: somebody accepted that, or
// it is flaky.
func (l lost) excuses(t metric.Test) bool {
	loss, settled := l.settled[t.ID]
	return t.Status != metric.Passed && (settled && loss.By == "" || t.Failed() && l.flaky(t.ID))
}

// replaced reports whether a test need not be there any more. One that lives on in another
// has to pass there.
func (l lost) replaced(id metric.ID, before, now *metric.Tests) bool {
	if _, settled := l.settled[id]; !settled {
		return false
	}
	heir, lives := now.Lookup(l.heir(id, now))
	if _, old := before.Lookup(heir.ID); lives && !old {
		l.heirs[heir.ID] = heir.Status == metric.Passed
	}
	return !lives || heir.Status == metric.Passed
}

// heir follows a lost test to the one that it lives on in.
func (l lost) heir(id metric.ID, now *metric.Tests) metric.ID {
	for range len(l.settled) { // names may go in a circle
		id = l.settled[id].Into
		if _, there := now.Lookup(id); there || id == (metric.ID{}) {
			break
		}
	}
	return id
}

// Messages are the costs in words.
func (b *Balance) Messages() []string {
	if b == nil || b.Approved {
		return nil
	}
	var out []string
	for _, a := range b.Costs {
		if m := strings.TrimSuffix(a.Message(), sinceBaseline); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
