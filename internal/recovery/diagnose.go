package recovery

import (
	"cmp"
	"fmt"
	"math"
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
	LeaveAlone     Strategy = "leave_alone" // what was refused, after the same finding came twice
)

// plans are what follows from a cause: the strategy, and what the next prompt says.
var plans = map[Cause]struct {
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

// Evidence is what is known of an iteration beside its assessment. What is not
// known is zero or empty.
type Evidence struct {
	Lines, Files int      // that the agent changed
	SameFailing  []string // tests that failed in this iteration and the two before
	Flipping     []string // tests that went back and forth between passing and failing
	FailedBefore []string // tests that are gone and had failed before
	Refused      []string // files that the findings which undo the iteration are about
	LastOutput   string   // the last line that the agent printed
	AgentFailed  bool     // it ended with a status or a signal
	NotMeasured  []string // why checks gave nothing
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

// sign is evidence for a cause. find returns the evidence of a case, "" for none.
type sign struct {
	cause      Cause
	confidence float64
	what       string // in words, for the documentation
	find       func(Case) string
}

// From these sizes on a change is large, and very large.
const (
	largeLines, hugeLines = 400, 1000
	largeFiles, hugeFiles = 15, 30
)

// signs is the table of evidence. A cause is as likely as its strongest sign, and
// a little more for each further one; of equally likely causes the first counts.
var signs = []sign{
	{RewardHacking, .85, "tests were deleted or skipped", alerted("test_deletion", "test_skipping")},
	{RewardHacking, .90, "the deleted tests had failed before", func(c Case) string { return some("the tests that are gone had failed before", c.Evidence.FailedBefore) }},
	{RewardHacking, .90, "a CRITICAL finding about integrity", alertedBy(detector.Critical, tampering)},
	{RewardHacking, .70, "a HIGH finding about integrity", alertedBy(detector.High, tampering)},
	{RewardHacking, .70, "hidden tests fail while all visible ones pass", alerted("hidden_test_failing")},

	{Environment, .80, "a check failed because a command is missing, the network or a service failed, or the disk or memory is full", func(c Case) string { return trouble(c.Evidence.NotMeasured...) }},
	{Environment, .80, "the agent failed for such a reason", func(c Case) string {
		if !c.Evidence.AgentFailed {
			return ""
		}
		return trouble(c.Evidence.LastOutput)
	}},

	{Ambiguity, .70, "the agent's last output is a question", func(c Case) string {
		if !asks(c.Evidence.LastOutput) {
			return ""
		}
		return "the agent asked: " + c.Evidence.LastOutput
	}},
	{Ambiguity, .65, "tests alternate between passing and failing, three changes or more within six iterations", func(c Case) string { return some("tests go back and forth", c.Evidence.Flipping) }},

	{TaskComplexity, .75, "the same tests failed in three iterations in a row", func(c Case) string { return some("the same tests fail since three iterations", c.Evidence.SameFailing) }},
	{TaskComplexity, .60, "tests that passed fail", alerted("functionality_loss")},
	{TaskComplexity, .55, "coverage fell, errors increased or the build broke", alerted("coverage_regression", "error_increase", "build_broken")},

	{CognitiveLoad, .70, "the change has at least 1000 lines or 30 files", size(hugeLines, hugeFiles)},
	{CognitiveLoad, .60, "the change has at least 400 lines or 15 files", size(largeLines, largeFiles)},

	{GenuineFix, .70, "every lost test is explained, no test newly fails, and there is no finding of HIGH or more", explained},
}

const (
	moreSure    = .05 // for each further sign of a cause
	mostSure    = .95
	unknownSure = .40
)

// diagnose returns the most likely cause.
func diagnose(c Case) Diagnosis {
	best := Diagnosis{Cause: Unknown, Confidence: unknownSure}
	for _, s := range signs {
		if s.cause == best.Cause {
			continue // judged with its first sign
		}
		if d := likely(s.cause, c); d.Confidence > best.Confidence+1e-9 {
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

// likely is how likely one cause is.
func likely(cause Cause, c Case) Diagnosis {
	d := Diagnosis{Cause: cause}
	for _, s := range signs {
		if s.cause != cause {
			continue
		}
		if text := s.find(c); text != "" {
			d.Confidence = max(d.Confidence, s.confidence)
			d.Evidence = append(d.Evidence, text)
		}
	}
	if more := len(d.Evidence) - 1; more > 0 {
		d.Confidence = min(mostSure, d.Confidence+moreSure*float64(more))
	}
	d.Confidence = math.Round(d.Confidence*100) / 100
	return d
}

// tampering reports whether an alert is about integrity.
func tampering(a detector.Alert) bool {
	return strings.HasPrefix(a.Rule, detector.TamperPrefix) || a.Type == "tampering"
}

func alerted(kinds ...string) func(Case) string {
	return func(c Case) string {
		for _, a := range c.Assessment.Alerts {
			for _, kind := range kinds {
				if a.Type == kind && a.Severity >= detector.High {
					return cmp.Or(a.Message(), a.Rule)
				}
			}
		}
		return ""
	}
}

func alertedBy(is detector.Severity, holds func(detector.Alert) bool) func(Case) string {
	return func(c Case) string {
		for _, a := range c.Assessment.Alerts {
			if a.Severity == is && a.CountsAtLeast(is) && holds(a) {
				return cmp.Or(a.Message(), a.Rule)
			}
		}
		return ""
	}
}

// some names up to three.
func some(what string, names []string) string {
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 3:
		return fmt.Sprintf("%s: %s and %d more", what, strings.Join(names[:3], ", "), len(names)-3)
	}
	return what + ": " + strings.Join(names, ", ")
}

func size(lines, files int) func(Case) string {
	return func(c Case) string {
		if c.Evidence.Lines < lines && c.Evidence.Files < files {
			return ""
		}
		return fmt.Sprintf("the change is large: %s in %s", plural(c.Evidence.Lines, "line", "lines"), plural(c.Evidence.Files, "file", "files"))
	}
}

// explained is evidence of an honest removal: every lost test is explained, no test
// that passed fails, and no finding is HIGH or more severe.
func explained(c Case) string {
	a := c.Assessment
	if len(a.Changes.Explained) == 0 || len(a.Changes.Explained) < len(a.Changes.Gone) || len(a.Changes.NewlyFailing) > 0 {
		return ""
	}
	for _, alert := range a.Alerts {
		if alert.Severity >= detector.High {
			return ""
		}
	}
	return plural(len(a.Changes.Explained), "test that is gone is explained", "tests that are gone are explained")
}

// troubles are what programs print when it is not their fault.
var troubles = []struct{ text, what string }{
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

func trouble(texts ...string) string {
	for _, text := range texts {
		lower := strings.ToLower(text)
		for _, t := range troubles {
			if strings.Contains(lower, t.text) {
				return t.what + ": " + text
			}
		}
	}
	return ""
}

// asks reports whether the last words of an agent are a question to a person.
func asks(words string) bool {
	words = strings.ToLower(strings.TrimSpace(words))
	if strings.HasSuffix(words, "?") {
		return true
	}
	for _, begin := range []string{"please clarify", "please confirm", "could you clarify", "i need clarification", "let me know which", "let me know whether", "let me know if you want", "should i "} {
		if strings.Contains(words, begin) {
			return true
		}
	}
	return false
}
