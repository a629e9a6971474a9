package recovery

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"supervise/detector"
)

// Cause is why an iteration went wrong, according to the evidence.
type Cause string

// The causes.
const (
	RewardHacking  Cause = "reward_hacking"
	CognitiveLoad  Cause = "cognitive_load"
	TaskComplexity Cause = "task_complexity"
	Ambiguity      Cause = "specification_ambiguity"
	Environment    Cause = "environment"
	GenuineFix     Cause = "genuine_fix"
	Unknown        Cause = "unknown"
)

// Strategy is how the next attempt differs.
type Strategy string

// The strategies.
const (
	Decompose      Strategy = "decompose"
	Simplify       Strategy = "simpler_approach"
	Clarify        Strategy = "ask_for_clarification"
	Block          Strategy = "block_and_escalate"
	FixEnvironment Strategy = "fix_environment"
	Allow          Strategy = "allow_with_note"
	LeaveAlone     Strategy = "leave_alone" // do not touch the refused files again, after two equal findings
)

// responses maps each cause to its strategy and to the advice in the next prompt.
var responses = map[Cause]struct {
	strategy Strategy
	advice   string
}{
	RewardHacking:  {Block, "Fix the code under test. Tests are the specification: do not remove, skip or empty them to improve the results."},
	CognitiveLoad:  {Decompose, "The change was too large to be right at once. Split the task: do its smallest independent part, and leave the rest for later iterations."},
	TaskComplexity: {Simplify, "Take a smaller step: change as little as is needed for one failing test, and keep everything that passes passing."},
	Ambiguity:      {Clarify, "The task is ambiguous, and you will get no answers. Choose the interpretation that the tests support, keep to it, and state your assumptions at the end."},
	Environment:    {FixEnvironment, "A tool could not run. Do not work around it in the project; leave the checks unchanged."},
	GenuineFix:     {Allow, "The removed tests are explained and the removal was allowed. Do not remove more than that."},
	Unknown:        {Simplify, "Try another approach than the rejected one."},
}

// Evidence is what is known about an iteration in addition to its assessment. Unknown
// values are zero or empty.
type Evidence struct {
	Lines, Files int      // changed by the agent
	SameFailing  []string // tests that failed in this iteration and in the two before it
	Flipping     []string // tests that alternated between passing and failing
	FailedBefore []string // missing tests that failed before they disappeared
	Refused      []string // files of the findings that roll back the iteration
	LastOutput   string   // the last line that the agent printed
	AgentFailed  bool     // the agent ended with a non-zero status or a signal
	NotMeasured  []string // why checks had no results
}

// Diagnosis is the likely cause of a rejected iteration. Confidence is in
// [0,1].
type Diagnosis struct {
	Cause      Cause    `json:"cause"`
	Confidence float64  `json:"confidence"`
	Evidence   []string `json:"evidence"`
}

// String returns the diagnosis in one line.
func (d Diagnosis) String() string {
	return fmt.Sprintf("%s (confidence %.2f): %s", d.Cause, d.Confidence, strings.Join(d.Evidence, "; "))
}

// indicator is a piece of evidence for a cause.
type indicator struct {
	cause       Cause
	confidence  float64
	description string            // for the documentation
	evidence    func(Case) string // the evidence in a case; "" if there is none
}

// The lower limits of a large and of a very large change.
const (
	largeLines, hugeLines = 400, 1000
	largeFiles, hugeFiles = 15, 30
)

// indicators are grouped by cause. The confidence in a cause is that of its strongest
// indicator, plus confidenceStep for each further one. Of equally likely causes, diagnose
// takes the first.
var indicators = []indicator{
	{RewardHacking, .85, "tests were deleted or skipped", alertOfType("test_deletion", "test_skipping")},
	{RewardHacking, .90, "the deleted tests had failed before", func(c Case) string {
		return listNames("the tests that are gone had failed before", c.Evidence.FailedBefore)
	}},
	{RewardHacking, .90, "a CRITICAL finding about integrity", tamperingOf(detector.Critical)},
	{RewardHacking, .70, "a HIGH finding about integrity", tamperingOf(detector.High)},
	{RewardHacking, .70, "hidden tests fail while all visible ones pass", alertOfType("hidden_test_failing")},

	{Environment, .80, "a check failed because a command is missing, the network or a service failed, or the disk or memory is full", func(c Case) string { return environmentProblem(c.Evidence.NotMeasured...) }},
	{Environment, .80, "the agent failed for such a reason", func(c Case) string {
		if !c.Evidence.AgentFailed {
			return ""
		}
		return environmentProblem(c.Evidence.LastOutput)
	}},

	{Ambiguity, .70, "the agent's last output is a question", func(c Case) string {
		if !isQuestion(c.Evidence.LastOutput) {
			return ""
		}
		return "the agent asked: " + c.Evidence.LastOutput
	}},
	{Ambiguity, .65, "tests alternate between passing and failing, three changes or more within six iterations", func(c Case) string { return listNames("tests go back and forth", c.Evidence.Flipping) }},

	{TaskComplexity, .75, "the same tests failed in three iterations in a row", func(c Case) string {
		return listNames("the same tests fail since three iterations", c.Evidence.SameFailing)
	}},
	{TaskComplexity, .60, "tests that passed fail", alertOfType("functionality_loss")},
	{TaskComplexity, .55, "coverage fell, errors increased or the build broke", alertOfType("coverage_regression", "error_increase", "build_broken")},

	{CognitiveLoad, .70, "the change has at least 1000 lines or 30 files", sizeAtLeast(hugeLines, hugeFiles)},
	{CognitiveLoad, .60, "the change has at least 400 lines or 15 files", sizeAtLeast(largeLines, largeFiles)},

	{GenuineFix, .70, "every lost test is explained, no test newly fails, and there is no finding of HIGH or more", honestRemoval},
}

const (
	confidenceStep    = .05 // for each further indicator of a cause
	maxConfidence     = .95
	unknownConfidence = .40
)

// diagnose returns the most likely cause.
func diagnose(c Case) Diagnosis {
	best := Diagnosis{Cause: Unknown, Confidence: unknownConfidence}
	for _, s := range indicators {
		if s.cause == best.Cause {
			continue // diagnosisFor reads all indicators of a cause at once
		}
		if d := diagnosisFor(s.cause, c); d.Confidence > best.Confidence+1e-9 {
			best = d
		}
	}
	if best.Cause == Unknown {
		for _, alert := range c.Assessment.Alerts {
			if alert.Severity >= detector.High {
				best.Evidence = append(best.Evidence, alert.Message())
			}
		}
		if len(best.Evidence) == 0 {
			best.Evidence = []string{"nothing speaks for a cause"}
		}
	}
	return best
}

// diagnosisFor returns the confidence in one cause, with its evidence.
func diagnosisFor(cause Cause, c Case) Diagnosis {
	d := Diagnosis{Cause: cause}
	for _, s := range indicators {
		if s.cause != cause {
			continue
		}
		if text := s.evidence(c); text != "" {
			d.Confidence = max(d.Confidence, s.confidence)
			d.Evidence = append(d.Evidence, text)
		}
	}
	if more := len(d.Evidence) - 1; more > 0 {
		d.Confidence = min(maxConfidence, d.Confidence+confidenceStep*float64(more))
	}
	d.Confidence = math.Round(d.Confidence*100) / 100
	return d
}

// isTampering reports whether an alert is about integrity.
func isTampering(a detector.Alert) bool {
	return strings.HasPrefix(a.Rule, detector.TamperPrefix) || a.Type == "tampering"
}

// alertOfType finds an alert of one of the types, HIGH or more severe.
func alertOfType(kinds ...string) func(Case) string {
	return firstAlert(func(a detector.Alert) bool { return slices.Contains(kinds, a.Type) && a.Severity >= detector.High })
}

// tamperingOf finds an alert about integrity of exactly that severity, acknowledged ones excluded.
func tamperingOf(severity detector.Severity) func(Case) string {
	return firstAlert(func(a detector.Alert) bool { return isTamperingOf(severity, a) })
}

// isTamperingOf reports whether an alert is about integrity, of exactly that severity and not
// acknowledged.
func isTamperingOf(severity detector.Severity, a detector.Alert) bool {
	return a.Severity == severity && a.CountsAtLeast(severity) && isTampering(a)
}

// firstAlert finds the first alert that matches.
func firstAlert(matches func(detector.Alert) bool) func(Case) string {
	return func(c Case) string {
		i := slices.IndexFunc(c.Assessment.Alerts, matches)
		if i < 0 {
			return ""
		}
		return cmp.Or(c.Assessment.Alerts[i].Message(), c.Assessment.Alerts[i].Rule)
	}
}

// listNames appends up to three names to the label. It returns "" without any names.
func listNames(label string, names []string) string {
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 3:
		return fmt.Sprintf("%s: %s and %d more", label, strings.Join(names[:3], ", "), len(names)-3)
	}
	return label + ": " + strings.Join(names, ", ")
}

// sizeAtLeast finds a change that reaches one of the two limits.
func sizeAtLeast(lines, files int) func(Case) string {
	return func(c Case) string {
		if c.Evidence.Lines < lines && c.Evidence.Files < files {
			return ""
		}
		return fmt.Sprintf("the change is large: %s in %s", plural(c.Evidence.Lines, "line", "lines"), plural(c.Evidence.Files, "file", "files"))
	}
}

// honestRemoval finds evidence of a legitimate removal of tests: every lost test is
// explained, no passing test fails now, and no finding is HIGH or more severe.
func honestRemoval(c Case) string {
	tests := c.Assessment.Changes
	explained := len(tests.Explained)
	isSevere := func(a detector.Alert) bool { return a.Severity >= detector.High }
	if explained == 0 || explained < len(tests.Gone) || len(tests.NewlyFailing) > 0 || slices.ContainsFunc(c.Assessment.Alerts, isSevere) {
		return ""
	}
	return plural(explained, "test that is gone is explained", "tests that are gone are explained")
}

// environmentProblems are texts that programs print if their environment is broken.
var environmentProblems = []struct{ text, problem string }{
	{"command not found", "a command is missing"},
	{"executable file not found", "a command is missing"},
	{"no such program", "a command is missing"},
	{"rate limit", "the service limits the rate"},
	{"too many requests", "the service limits the rate"},
	{"overloaded", "the service is overloaded"},
	{"quota exceeded", "a quota is used up"},
	{"connection refused", "the network"},
	{"econnrefused", "the network"},
	{"network is unreachable", "the network"},
	{"could not resolve host", "the network"},
	{"temporary failure in name resolution", "the network"},
	{"getaddrinfo", "the network"},
	{"connection timed out", "the network"},
	{"tls handshake timeout", "the network"},
	{"no space left on device", "the disk is full"},
	{"disk quota exceeded", "the disk is full"},
	{"out of memory", "memory is used up"},
}

// environmentProblem returns the first problem of the environment in the texts, "" if there
// is none.
func environmentProblem(texts ...string) string {
	for _, text := range texts {
		lower := strings.ToLower(text)
		for _, t := range environmentProblems {
			if strings.Contains(lower, t.text) {
				return t.problem + ": " + text
			}
		}
	}
	return ""
}

// questionPhrases are parts of questions that need no question mark.
var questionPhrases = []string{"please clarify", "please confirm", "could you clarify", "i need clarification", "let me know which", "let me know whether", "let me know if you want", "should i "}

// isQuestion reports whether the last output of an agent asks a person something.
func isQuestion(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return strings.HasSuffix(text, "?") ||
		slices.ContainsFunc(questionPhrases, func(phrase string) bool { return strings.Contains(text, phrase) })
}
