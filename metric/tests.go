package metric

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"
)

// ID is the identity of one test: two runs are about the same test when the
// IDs are equal. Parameters of a parametrised case are part of Name.
type ID struct {
	Suite string `json:"suite,omitempty"` // package, file or suite
	Class string `json:"class,omitempty"`
	Name  string `json:"name"`
}

// String returns the identity as people write it, "suite: class.name", without
// the parts that are empty.
func (id ID) String() string {
	name := id.Name
	if id.Class != "" {
		name = id.Class + "." + name
	}
	switch {
	case id.Suite == "":
		return name
	case name == "": // the suite itself
		return id.Suite
	}
	return id.Suite + ": " + name
}

// Parent returns the test that a parametrised case or subtest belongs to, and
// false when id is no such case: "TestA/b", "test_a[b]" and "testA with data set
// "b"" of PHPUnit belong to "TestA", "test_a" and "testA".
func (id ID) Parent() (ID, bool) {
	if i := strings.Index(id.Name, " with data set "); i > 0 {
		return ID{id.Suite, id.Class, id.Name[:i]}, true
	}
	if i := strings.IndexByte(id.Name, '['); i > 0 && strings.HasSuffix(id.Name, "]") {
		return ID{id.Suite, id.Class, id.Name[:i]}, true
	}
	if i := strings.LastIndexByte(id.Name, '/'); i > 0 {
		return ID{id.Suite, id.Class, id.Name[:i]}, true
	}
	return ID{}, false
}

// Compare orders identities by suite, class and name.
func (id ID) Compare(other ID) int {
	if c := strings.Compare(id.Suite, other.Suite); c != 0 {
		return c
	}
	if c := strings.Compare(id.Class, other.Class); c != 0 {
		return c
	}
	return strings.Compare(id.Name, other.Name)
}

// Status is the outcome of one test. The order is from best to worst: where a
// report holds one identity twice, the greater status counts.
type Status uint8

// The outcomes of a test. NotRun is a known test whose suite did not run; it
// counts as failed.
const (
	Passed Status = iota + 1
	Skipped
	NotRun
	Failed
	Errored
)

var statusNames = Names{Passed: "passed", Skipped: "skipped", NotRun: "not_run", Failed: "failed", Errored: "error"}

// String returns the status as it is written in files.
func (s Status) String() string { return statusNames.Name(int(s)) }

// MarshalText writes the status by name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a status by name. An unknown name is an error.
func (s *Status) UnmarshalText(text []byte) error {
	return statusNames.Parse("test status", text, (*uint8)(s))
}

// UnknownNameError is returned for a name that is not in an enumeration.
type UnknownNameError struct{ Kind, Name string }

// Error names the enumeration and the name that is not in it.
func (e *UnknownNameError) Error() string { return "unknown " + e.Kind + " " + e.Name }

// Test is the outcome of one test.
type Test struct {
	ID
	Status       Status        `json:"status"`
	Duration     time.Duration `json:"duration_ns,omitempty"`
	Message      string        `json:"message,omitempty"` // of a failure, or the reason of a skip
	File         string        `json:"file,omitempty"`
	Line         int           `json:"line,omitempty"`
	Flaky        bool          `json:"flaky,omitempty"`  // failed, then passed when run again
	Rerun        bool          `json:"rerun,omitempty"`  // a second attempt at the same identity
	UnstableName bool          `json:"varies,omitempty"` // its name changes from run to run; it keeps the first one
	// Cached says that the test was not run: its last verdict counts, since nothing that
	// its tool knows it by has changed.
	Cached bool `json:"cached,omitempty"`
}

// Suite is a package, file or suite that could not be run.
type Suite struct {
	Name       string `json:"name"`
	Why        string `json:"why"`
	StoppedRun bool   `json:"stopped_run,omitempty"` // tests of other suites may be missing because of it: it ended the run
}

// MainError returns the line of Why that says most: of a stack trace the error at its end.
func (s Suite) MainError() string {
	best, rank := "", 0
	for line := range strings.Lines(s.Why) {
		text, ofPytest := strings.CutPrefix(line, "E ")
		text = strings.TrimSpace(text)
		lineRank := 1
		if strings.Contains(strings.ToLower(text), "error") {
			lineRank = 2
			if ofPytest {
				lineRank = 3
			}
		}
		// The first error line is used, and the last of other lines.
		if text != "" && (lineRank > rank || lineRank == 1 && rank == 1) {
			best, rank = text, lineRank
		}
	}
	return best
}

// Tests is a set of test outcomes. Cases are unique by identity and sorted.
type Tests struct {
	Cases            []Test        `json:"cases"`
	BrokenAtBaseline []string      `json:"broken_at_baseline,omitempty"` // suites that could not be built before any agent ran, for no error in a file of the project
	Contention       time.Duration `json:"crowded_ns,omitempty"`         // how much of Duration other checks may have cost
	Broken           []Suite       `json:"broken,omitempty"`             // suites that did not build, crashed or timed out
	Duration         time.Duration `json:"duration_ns"`                  // wall time of the run, or the sum of the cases
	Format           string        `json:"format,omitempty"`
	Producer         string        `json:"producer,omitempty"`
	Runner           string        `json:"runner,omitempty"`   // the frameworks that the plan names, "jest" or "jest+pytest"; "" if it names none
	Failure          string        `json:"failure,omitempty"`  // why the run failed although no test did, or how its report contradicts itself
	Problems         []string      `json:"problems,omitempty"` // contradictions between the report's totals and its cases
	Forged           []ID          `json:"forged,omitempty"`   // said to have passed, defined and listed nowhere; not among Cases
}

// NewTests returns the set of the given outcomes, in any order. Of several outcomes
// of one identity the worst status counts, except that a pass of a rerun makes the
// test passed and flaky.
func NewTests(cases []Test) *Tests {
	if cases == nil {
		return &Tests{}
	}
	order := make([]int, len(cases)) // moving numbers is cheaper than moving cases
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cases[a].Compare(cases[b].ID), a-b) })
	out := make([]Test, 0, len(cases))
	for _, i := range order {
		if n := len(out); n > 0 && out[n-1].ID == cases[i].ID {
			out[n-1] = mergeOutcomes(out[n-1], cases[i])
			continue
		}
		out = append(out, cases[i])
	}
	return &Tests{Cases: out}
}

// mergeOutcomes joins two results of one test. The worse one counts, unless b is a rerun that passed
// after a failure: then the test is flaky and passed.
func mergeOutcomes(a, b Test) Test {
	if b.Rerun && b.Status == Passed && a.Failed() {
		b.Flaky = true
		return b
	}
	worst := a
	if b.Status > a.Status {
		worst = b
	}
	worst.Flaky, worst.Cached = a.Flaky || b.Flaky, a.Cached && b.Cached
	worst.Duration = a.Duration + b.Duration
	return worst
}

// Failed reports whether the test counts as failed: it failed, broke off with
// an error, or was known and did not run.
func (t Test) Failed() bool {
	return t.Status == Failed || t.Status == Errored || t.Status == NotRun
}

// Lookup returns the outcome of the test with that identity.
func (t *Tests) Lookup(id ID) (Test, bool) {
	if t == nil {
		return Test{}, false
	}
	i, ok := t.position(id)
	if !ok {
		return Test{}, false
	}
	return t.Cases[i], true
}

// Select returns the identities of the tests that match, none for a nil set.
func (t *Tests) Select(matches func(Test) bool) []ID {
	var out []ID
	if t != nil {
		for _, c := range t.Cases {
			if matches(c) {
				out = append(out, c.ID)
			}
		}
	}
	return out
}

// position returns the index of the test among the cases, and false if there is none.
func (t *Tests) position(id ID) (int, bool) {
	return sort.Find(len(t.Cases), func(i int) int { return id.Compare(t.Cases[i].ID) })
}

// Sorted returns t with its cases in the order of their identities: t itself if they are sorted. A
// set that was read from a file may be unsorted.
func (t *Tests) Sorted() *Tests {
	if t == nil {
		return nil
	}
	if slices.IsSortedFunc(t.Cases, func(a, b Test) int { return a.Compare(b.ID) }) {
		return t
	}
	out := *t
	out.Cases = NewTests(t.Cases).Cases
	return &out
}

// Pair calls each with every test of two sets, in the order of their identities; with nil
// for the side on which it is not. A nil set has no tests.
func Pair(before, now *Tests, each func(old, current *Test)) {
	if before == nil {
		before = &Tests{}
	}
	if now == nil {
		now = &Tests{}
	}
	earlier, later := before.Cases, now.Cases
	for len(earlier) > 0 && len(later) > 0 {
		switch c := earlier[0].Compare(later[0].ID); {
		case c < 0:
			each(&earlier[0], nil)
			earlier = earlier[1:]
		case c > 0:
			each(nil, &later[0])
			later = later[1:]
		default:
			each(&earlier[0], &later[0])
			earlier, later = earlier[1:], later[1:]
		}
	}
	for i := range earlier {
		each(&earlier[i], nil)
	}
	for i := range later {
		each(nil, &later[i])
	}
}

// Counts are the sums of a set of tests. Count includes skipped tests, Failed
// includes errors and tests that were known and did not run. Cached tests count by
// their verdict as well.
type Counts struct {
	Count, Passed, Failed, Skipped, Flaky, Cached int
}

// Counts returns the sums of t.
func (t *Tests) Counts() Counts {
	var n Counts
	if t == nil {
		return n
	}

	n.Count = len(t.Cases)
	for i := range t.Cases {
		c := &t.Cases[i] // it is large
		switch {
		case c.Status == Passed:
			n.Passed++
		case c.Status == Skipped:
			n.Skipped++
		case c.Failed():
			n.Failed++
		}
		if c.Flaky {
			n.Flaky++
		}
		if c.Cached {
			n.Cached++
		}
	}

	return n
}

// passRate returns 100·passed/count in [0,100], for a set that is not empty. A skipped test counts
// as a test, so a skip never raises the rate.
func (n Counts) passRate() float64 { return 100 * float64(n.Passed) / float64(n.Count) }

// IsBroken reports whether the suite of a test could not run, or the run was stopped before the
// test. For a suite alone, the identity has no name.
func (t *Tests) IsBroken(id ID) bool {
	return t != nil && slices.ContainsFunc(t.Broken, func(s Suite) bool {
		if s.Name == id.Suite || !s.StoppedRun {
			return s.Name == id.Suite
		}
		c, exists := t.Lookup(id)
		return !exists || c.Status == NotRun
	})
}

// WithNotRun returns t with the tests of known that belong to a suite that did
// not run in t added as [NotRun]. A suite that could not run is not a deleted
// suite. Where the run was stopped, or nothing at all ran, that holds for every
// suite: many tools run none of them when one cannot be loaded. Neither argument is changed.
func (t *Tests) WithNotRun(known *Tests) *Tests {
	if t == nil || known == nil || len(t.Broken) == 0 {
		return t
	}
	broken := make(map[string]string, len(t.Broken))
	for _, s := range t.Broken {
		broken[s.Name] = s.Why
	}
	cases := slices.Clone(t.Cases)
	stopped := slices.IndexFunc(t.Broken, func(s Suite) bool { return s.StoppedRun || len(t.Cases) == 0 })
	for _, c := range known.Cases {
		why, lost := broken[c.Suite]
		if !lost && stopped >= 0 {
			why, lost = t.Broken[stopped].Why, true
		}
		if _, ran := t.Lookup(c.ID); lost && !ran {
			cases = append(cases, Test{ID: c.ID, Status: NotRun, Message: why, File: c.File, Line: c.Line})
		}
	}
	out := *t
	out.Cases = NewTests(cases).Cases
	return &out
}

// WithTest returns t with the outcome of one test replaced by c.
func (t *Tests) WithTest(c Test) *Tests {
	out := *t
	out.Cases = slices.Clone(t.Cases)
	if i, ok := t.position(c.ID); ok {
		out.Cases[i] = c
	}
	return &out
}
