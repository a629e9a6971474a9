package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"
)

// ErrInvalidMessage is wrapped by the errors about invalid messages of an orchestrator. The
// text says what to correct.
var ErrInvalidMessage = errors.New("not understood")

// invalid returns an error that wraps [ErrInvalidMessage].
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidMessage, fmt.Sprintf(format, args...))
}

// Message is a request of an orchestrator, from JSON or from the flags of a command. Pointers
// distinguish a missing value, which is nil, from a zero.
type Message struct {
	Type   Kind   `json:"type"`
	LoopID string `json:"loop_id"`

	// For an iteration and the baseline.
	Iteration       *int                   `json:"iteration"`
	Number          *int                   `json:"iteration_number"` // another name of iteration
	Timestamp       *time.Time             `json:"timestamp"`
	Testing         *Testing               `json:"testing"`
	Quality         *Quality               `json:"quality"`
	Codebase        *metric.CodebaseRecord `json:"codebase"`
	Missing         []metric.Gap           `json:"missing"`
	Dimensions      map[string]float64     `json:"dimensions"`
	Score           *float64               `json:"quality_score"`
	ledger.Reported                        // what only the orchestrator knows, such as the cost
	Tree            string                 `json:"tree"`     // ID of the tree
	Snapshot        bool                   `json:"snapshot"` // take a snapshot of the working tree
	Replace         bool                   `json:"replace"`  // replace an iteration that is recorded already
	Reason          string                 `json:"reason"`   // reason for replacing an iteration

	// For a request for a decision.
	Question
	Complete  bool          `json:"complete"` // the loop has ended: select
	Mode      selector.Mode `json:"mode"`
	Threshold *float64      `json:"threshold"` // in [0,1]

	inConversation bool     // it was wrapped in a Conversation, and so is the answer
	baseline       *Message // comes with an iteration, for a loop that has no baseline yet
}

// derivedFields are fields of a message that are ignored, because our own answers and supervise
// measure --json contain them.
var derivedFields = strings.Fields("classification deltas alerts is_best_iteration derived partial did_not_run projects checks " +
	"verified rejected baseline_stored best_iteration_tracker recommendation next_action")

// Testing has the results of the tests: their counts, or the tests themselves. Numbers are
// float64, because orchestrators write 3.0 as well as 3; [parseCount] checks them.
type Testing struct {
	Count        *float64      `json:"test_count"`
	Passed       *float64      `json:"tests_passed"`
	Failed       *float64      `json:"tests_failed"`
	Skipped      *float64      `json:"tests_skipped"`
	PassRate     *float64      `json:"pass_rate"`           // in percent; only checked against the counts
	Coverage     *float64      `json:"coverage_percentage"` // in percent
	LinesCovered *float64      `json:"coverage_lines_covered"`
	LinesTotal   *float64      `json:"coverage_lines_total"`
	Unit         metric.Unit   `json:"coverage_unit"`
	TimeMS       *float64      `json:"test_time_ms"`
	Tests        []metric.Test `json:"tests"`
}

// Quality has the results of linters, type checkers and the build.
type Quality struct {
	LintErrors   *float64           `json:"lint_errors"`
	LintWarnings *float64           `json:"lint_warnings"`
	TypeErrors   *float64           `json:"type_errors"`
	TSErrors     *float64           `json:"typescript_errors"` // another name of type_errors
	ErrorCount   *float64           `json:"error_count"`       // sum of all errors
	Build        metric.BuildStatus `json:"build_status"`
	BuildMS      *float64           `json:"build_time_ms"`
}

// Messages reads a stream of messages, which are JSON objects. Unknown fields are errors.
// Fields in iteration_metrics or metrics are treated like top-level fields.
type Messages struct{ dec *json.Decoder }

// NewMessages returns the messages in r.
func NewMessages(r io.Reader) *Messages { return &Messages{json.NewDecoder(r)} }

// Next returns the next message, and io.EOF after the last one. After an error that wraps
// [ErrInvalidMessage] the next message can be read.
func (m *Messages) Next() (Message, error) {
	var raw map[string]json.RawMessage
	var kind *json.UnmarshalTypeError
	switch err := m.dec.Decode(&raw); {
	case errors.Is(err, io.EOF):
		return Message{}, io.EOF
	case errors.As(err, &kind):
		return Message{}, invalid("a message is a JSON object, not %s", kind.Value)
	case err != nil:
		return Message{}, fmt.Errorf("read messages: %w", err)
	}
	return ParseMessage(raw)
}

// ParseMessage parses a message from the fields of a JSON object.
func ParseMessage(raw map[string]json.RawMessage) (Message, error) {
	if _, ok := raw["role"]; ok {
		return parseConversation(raw)
	}
	for _, wrapper := range []string{"iteration_metrics", "metrics"} {
		inner, ok := raw[wrapper]
		if !ok {
			continue
		}
		delete(raw, wrapper)
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(inner, &fields); err != nil {
			return Message{}, invalid("%s: %v", wrapper, err)
		}
		for name, value := range fields {
			if there, ok := raw[name]; ok && !bytes.Equal(there, value) {
				return Message{}, invalid("%s is given twice, in %s and next to it", name, wrapper)
			}
			raw[name] = value
		}
	}

	if err := moveIntoSections(raw); err != nil {
		return Message{}, err
	}
	maps.DeleteFunc(raw, func(name string, _ json.RawMessage) bool {
		return slices.Contains(derivedFields, strings.ToLower(name))
	})
	var m Message
	return m, decodeStrict(raw, &m)
}

// iterationNumber returns the number of the iteration, and false if it is missing. It is an error
// if the two fields for it differ.
func (m Message) iterationNumber() (int, bool, error) {
	switch {
	case m.Iteration != nil && m.Number != nil && *m.Iteration != *m.Number:
		return 0, false, invalid("iteration is %d and iteration_number %d", *m.Iteration, *m.Number)
	case m.Iteration != nil:
		return *m.Iteration, true, nil
	case m.Number != nil:
		return *m.Number, true, nil
	}
	return 0, false, nil
}

// reportedFields returns the values that only the orchestrator knows, such as the cost.
func (m Message) reportedFields() (*ledger.Reported, error) {
	statuses := []string{"", ledger.VerifyPassed, ledger.VerifyFailed, ledger.VerifySkipped}
	switch {
	case !slices.Contains(statuses, m.Verification):
		return nil, invalid("verification_status is %q: give passed, failed or skipped", m.Verification)
	case m.Tokens != nil && *m.Tokens < 0, m.TimeMS != nil && *m.TimeMS < 0, m.CostUSD != nil && !(*m.CostUSD >= 0):
		return nil, invalid("tokens_used, token_cost_usd and execution_time_ms must not be negative")
	}
	return &m.Reported, nil
}

// scoreOf computes the score of the metrics in set. A reported score takes precedence over
// reported dimensions, and these over a score computed from the metrics.
func (m Message) scoreOf(set, baseline metric.Set, w selector.Weights) (selector.Score, error) {
	s := selector.Grade(set, baseline, w)
	var err error
	if len(m.Dimensions) > 0 {
		s, err = selector.FromDimensions(m.Dimensions, w)
	}
	if err == nil && m.Score != nil {
		plain, errScore := selector.FromValue(*m.Score)
		s.Value, s.Measured, err = plain.Value, plain.Measured, errScore
		if len(m.Dimensions) == 0 {
			s.Dimensions = nil
		}
	}
	if err != nil {
		return s, invalid("%v", err)
	}
	return s, nil
}

// CountsOnly is the format of tests if only their counts are known.
const CountsOnly = "counts"

// formatGiven is the format of metrics that an orchestrator reported in detail.
const formatGiven = "given"

// Set returns the reported metrics. errorFields says what counts as errors, see [metric.Lint].
func (m Message) Set(errorFields []metric.Field) (metric.Set, error) {
	s := metric.Set{Gaps: m.Missing}
	var errs [4]error
	if t := m.Testing; t != nil {
		s.Tests, errs[0] = t.newTests()
		s.Coverage, errs[1] = t.newCoverage()
	}
	if q := m.Quality; q != nil {
		s.Lint, s.Build, errs[2] = q.lintAndBuild(errorFields)
	}
	if m.Codebase != nil {
		s.Code, errs[3] = codeOf(*m.Codebase)
	}
	return s, errors.Join(errs[:]...)
}

// maxCount limits the numbers of tests and findings, since each one becomes a value.
const maxCount = 1_000_000

// parseCount converts a count to an integer. It returns false if v is nil, and an error that names
// the field if v is not an integer from 0 to maxCount.
func parseCount(name string, v *float64) (int, bool, error) {
	if v == nil {
		return 0, false, nil
	}
	if !(*v >= 0 && *v <= maxCount) || *v != math.Trunc(*v) {
		return 0, false, invalid("%s is %v: give an integer from 0 to %d", name, *v, maxCount)
	}
	return int(*v), true, nil
}

// newTests returns the reported tests, or numbered ones if only their counts are known. It
// returns nil if neither is reported, and an error if both are and they differ.
func (t *Testing) newTests() (*metric.Tests, error) {
	counts, known, err := t.counts()
	if err != nil {
		return nil, err
	}

	if t.Tests != nil {
		out := metric.NewTests(t.Tests)
		out.Format, out.Duration = formatGiven, t.duration()
		if n := out.Counts(); known && (n.Count != counts.Count || n.Passed != counts.Passed || n.Skipped != counts.Skipped) {
			return nil, invalid("testing.tests has %d tests, %d passed and %d skipped; the metrics next to it say %d, %d and %d",
				n.Count, n.Passed, n.Skipped, counts.Count, counts.Passed, counts.Skipped)
		}
		return out, nil
	}

	if !known {
		if t.PassRate != nil {
			return nil, invalid("pass_rate alone says nothing of deleted tests: give test_count and tests_passed")
		}
		return nil, nil //nolint:nilnil // not measured
	}

	out := numberedTests(counts)
	out.Duration = t.duration()
	return out, nil
}

// duration returns how long the tests took, 0 if that is unknown.
func (t *Testing) duration() time.Duration {
	if t.TimeMS == nil {
		return 0
	}
	return time.Duration(*t.TimeMS * float64(time.Millisecond))
}

// counts returns the numbers of tests. It computes a missing number from the others, and returns
// known as false if there are none. Numbers that do not add up are an error.
func (t *Testing) counts() (n metric.Counts, known bool, err error) {
	var hasCount, hasPassed, hasFailed, hasSkipped bool
	var errs [4]error
	n.Count, hasCount, errs[0] = parseCount("test_count", t.Count)
	n.Passed, hasPassed, errs[1] = parseCount("tests_passed", t.Passed)
	n.Failed, hasFailed, errs[2] = parseCount("tests_failed", t.Failed)
	n.Skipped, hasSkipped, errs[3] = parseCount("tests_skipped", t.Skipped)
	if err := cmp.Or(errs[:]...); err != nil {
		return n, false, err
	}

	switch {
	case !hasCount && !hasPassed && !hasFailed && !hasSkipped:
		return n, false, nil
	case !hasPassed || !hasCount && !hasFailed:
		return n, false, invalid("give test_count and tests_passed, or tests_passed and tests_failed")
	case !hasCount:
		n.Count = n.Passed + n.Failed + n.Skipped
	case !hasFailed:
		n.Failed = n.Count - n.Passed - n.Skipped
	}

	if n.Failed < 0 || n.Passed+n.Failed+n.Skipped != n.Count {
		return n, false, invalid("test_count is %d, but passed, failed and skipped are %d, %d and %d", n.Count, n.Passed, n.Failed, n.Skipped)
	}
	return n, true, t.checkRate(n)
}

// checkRate returns an error if the reported pass rate differs from that of the counts by more
// than one percentage point.
func (t *Testing) checkRate(n metric.Counts) error {
	if t.PassRate == nil || n.Count == 0 {
		return nil
	}
	if rate := 100 * float64(n.Passed) / float64(n.Count); math.Abs(rate-*t.PassRate) > 1 {
		return invalid("pass_rate is %v, but %d of %d tests passed: %.1f", *t.PassRate, n.Passed, n.Count, rate)
	}
	return nil
}

// numberedTests creates tests with the names "#1 (unnamed)", "#2 (unnamed)", …, for which only
// the counts are known: first the passing, then the failing, then the skipped ones. So two such
// sets differ in as few tests as their counts allow.
func numberedTests(n metric.Counts) *metric.Tests {
	cases := make([]metric.Test, 0, n.Count)
	for i := range n.Count {
		status := metric.Skipped
		switch {
		case i < n.Passed:
			status = metric.Passed
		case i < n.Passed+n.Failed:
			status = metric.Failed
		}
		cases = append(cases, metric.Test{ID: metric.ID{Name: fmt.Sprintf("#%d (unnamed)", i+1)}, Status: status})
	}
	out := metric.NewTests(cases)
	out.Format = CountsOnly
	return out
}

// newCoverage returns the coverage, from the numbers of lines if they are known and otherwise
// from the percentage. It returns nil if neither is reported.
func (t *Testing) newCoverage() (*metric.Coverage, error) {
	covered, total := t.LinesCovered, t.LinesTotal
	switch pct := t.Coverage; {
	case pct != nil && !(*pct >= 0 && *pct <= 100):
		return nil, invalid("coverage_percentage is %v: give a number from 0 to 100", *pct)
	case covered != nil && total != nil:
		c := &metric.Coverage{Covered: int64(*covered), Total: int64(*total), Unit: cmp.Or(t.Unit, metric.Lines), Format: formatGiven}
		if c.Covered < 0 || c.Covered > c.Total {
			return nil, invalid("coverage_lines_covered is %v of %v", *covered, *total)
		}
		if exact, ok := c.Percent(); ok && pct != nil && math.Abs(exact-*pct) > 1 {
			return nil, invalid("coverage_percentage is %v, but %v of %v lines are covered: %.1f", *pct, *covered, *total, exact)
		}
		return c, nil
	case pct != nil:
		return percentageCoverage(*pct), nil
	case covered != nil || total != nil:
		return nil, invalid("give coverage_lines_covered and coverage_lines_total, or coverage_percentage")
	}
	return nil, nil //nolint:nilnil // not measured
}

// percentageCoverage returns a coverage of which only the percentage is known. It counts
// ten-thousandths of a percent instead of lines.
func percentageCoverage(pct float64) *metric.Coverage {
	const grain = 1e4
	return &metric.Coverage{Covered: int64(math.Round(pct * grain)), Total: 100 * grain, Unit: metric.Percentage, Format: formatGiven}
}

// lintAndBuild returns the results of linters and of the build. Each is nil if it is not reported.
func (q *Quality) lintAndBuild(errorFields []metric.Field) (*metric.Lint, *metric.Build, error) {
	var build *metric.Build
	switch q.Build {
	case "", metric.BuildUnknown:
	case metric.BuildSuccess, metric.BuildFailure:
		build = &metric.Build{Status: q.Build}
		if q.BuildMS != nil {
			build.Duration = time.Duration(*q.BuildMS * float64(time.Millisecond))
		}
	default:
		return nil, nil, invalid("build_status is %q: give success, failure or unknown", q.Build)
	}
	lint, err := q.newLint(errorFields)
	return lint, build, err
}

// newLint returns findings without text in the reported numbers, nil if no number is reported.
func (q *Quality) newLint(errorFields []metric.Field) (*metric.Lint, error) {
	errs, ok1, err1 := parseCount("lint_errors", q.LintErrors)
	warnings, ok2, err2 := parseCount("lint_warnings", q.LintWarnings)
	types, ok3, err3 := parseCount("type_errors", cmp.Or(q.TypeErrors, q.TSErrors))
	all, ok4, err4 := parseCount("error_count", q.ErrorCount)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}

	parts := ok1 || ok2 || ok3
	if !parts {
		if !ok4 {
			return nil, nil //nolint:nilnil // not measured
		}
		types, errorFields = all, nil // of unknown kind: they count only in the sum
	}

	out := &metric.Lint{Findings: []metric.Finding{}, Tools: []string{formatGiven}, ErrorFields: errorFields}
	for _, f := range []struct {
		n       int
		finding metric.Finding
	}{{errs, metric.Finding{Level: metric.Error}}, {warnings, metric.Finding{Level: metric.Warning}}, {types, metric.Finding{Level: metric.Error, Type: true}}} {
		out.Findings = append(out.Findings, slices.Repeat([]metric.Finding{f.finding}, f.n)...)
	}

	if sum := out.ErrorCount(); parts && ok4 && all != sum {
		return nil, invalid("error_count is %d, but lint_errors, lint_warnings and type_errors are %d, %d and %d, of which %d count as errors", all, errs, warnings, types, sum)
	}
	return out, nil
}

// codeOf returns the metrics of the source code, nil if none is reported.
func codeOf(c metric.CodebaseRecord) (*metric.Code, error) {
	files, ok1, err1 := parseCount("file_count", c.FileCount)
	if c.LOCTotal == nil && !ok1 && c.Complexity == nil {
		return nil, err1
	}
	if c.LOCTotal == nil || !ok1 {
		return nil, errors.Join(err1, invalid("codebase: give file_count and loc_total"))
	}
	if !(*c.LOCTotal >= 0) || c.Complexity != nil && !(*c.Complexity >= 0) {
		return nil, invalid("loc_total and complexity_score must not be negative")
	}
	out := &metric.Code{Files: files, LOC: int(*c.LOCTotal)}
	if c.Complexity != nil {
		out.Functions, out.Complexity = 1, *c.Complexity
	}
	if c.LOCAdded != nil && c.LOCDeleted != nil {
		added, deleted := int(*c.LOCAdded), int(*c.LOCDeleted)
		out.Added, out.Deleted = &added, &deleted
	}
	return out, err1
}
