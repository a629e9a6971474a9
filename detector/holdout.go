package detector

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// Outcome is how the original of a test, from before the change, ended over the
// changed code.
type Outcome string

// The outcomes. What is neither Held nor Broke proves nothing.
const (
	Held    Outcome = "passed"
	Broke   Outcome = "failed"
	Unbuilt Outcome = "does_not_build" // it does not fit the code any more
	NotHeld Outcome = "not_run"
)

var outcomeTexts = map[Outcome]string{
	Held:    "as it was, it passes over the new code",
	Broke:   "as it was, it fails over the new code",
	Unbuilt: "as it was, it does not build with the new code",
	NotHeld: "as it was, it could not be run over the new code",
}

// String says the outcome in words.
func (o Outcome) String() string { return outcomeTexts[o] }

// HeldOut is the result of a finding's original test over the current code.
type HeldOut struct {
	File    string    `json:"file"`           // of the finding
	Finding string    `json:"test,omitempty"` // the test that the finding names; "" for all of the file
	ID      metric.ID `json:"id"`             // of the test, as it was named before
	Outcome Outcome   `json:"outcome"`
	Why     string    `json:"why,omitempty"` // what it says, or why it proves nothing
}

// heldPatterns are those whose severity depends on the hold-out run: the oracle
// became weaker, or is gone. The others are wrong whatever the code does.
var heldPatterns = []string{"TP-01", "TP-02", "TP-09", "TP-10", "TP-11", "TP-13", "TP-14", "TP-16", "TP-17"}

// provenPatterns are those of them that are undone where the original test fails and
// no code changed: what was fixed is the test.
var provenPatterns = []string{"TP-01", "TP-02", "TP-09", "TP-10", "TP-11", "TP-13"}

// ToHoldOut returns the findings, of at least the given severity, whose original
// tests should be run: those whose severity depends on it, that nothing explains and
// that count by the options.
func ToHoldOut(in Input, o Options, least Severity) []Tampering {
	j := newJudge(in, o.WithDefaults())
	var out []Tampering
	for _, t := range in.Tampering {
		if j.unread() || !slices.Contains(heldPatterns, t.Pattern) || j.weigh(t) < least {
			continue
		}
		if t.Test == "" && !slices.Contains(in.TestFiles, t.File) { // of a command, say
			continue
		}
		if !j.opts.row(tamperRule(t.Type, t.Severity), AgainstPrevious).off() {
			out = append(out, t)
		}
	}
	return out
}

// Cases returns the tests of before that the finding names, or all tests of its
// file where it names none. defs are the definitions before the change, renamed
// the new paths of renamed files.
func (t Tampering) Cases(before *metric.Tests, defs []TestSource, renamed map[string]string) []metric.Test {
	if before == nil {
		return nil
	}
	own := slices.DeleteFunc(place(defs, suitesOf(metric.Set{Tests: before})), func(d TestSource) bool {
		return d.File != t.File && renamed[d.File] != t.File
	})
	known := newDefinitions(own)
	var sure, maybe []metric.Test
	for _, c := range before.Cases {
		switch d := known.defining(c); {
		case d == nil || t.Test != "" && d.Def.Name != t.Test:
		case d.exact() || max(refersTo(c.File, d.File), refersTo(c.Suite, d.File), refersTo(c.Class, d.File)) > 0:
			sure = append(sure, c)
		default:
			maybe = append(maybe, c)
		}
	}
	if len(sure)+len(maybe) == 0 && t.Test == "" {
		return expecting(t.File, before)
	}
	if len(sure) == 0 {
		return maybe
	}
	return sure
}

// expecting returns the tests whose expected output a file holds, by where it
// lies: beside the test file that it is named after, or below the folder of the
// tests.
func expecting(file string, before *metric.Tests) []metric.Test {
	dir, name := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	owner, folder := "", ""
	switch base := path.Base(dir); {
	case base == "__snapshots__":
		owner = path.Join(path.Dir(dir), strings.TrimSuffix(strings.Replace(name, ".ambr", ".py", 1), ".snap"))
	case strings.HasSuffix(name, ".snap"):
		owner = strings.TrimSuffix(file, ".snap")
	default:
		i := strings.LastIndex("/"+dir+"/", "/testdata/")
		if i < 0 {
			return nil
		}
		folder = strings.Trim(("/" + dir)[:i], "/")
	}
	var out []metric.Test
	for _, c := range before.Cases {
		beside := folder != "" && (c.Suite == folder || strings.HasSuffix(c.Suite, "/"+folder))
		if beside || owner != "" && max(refersTo(c.File, owner), refersTo(c.Suite, owner), refersTo(c.Class, owner)) == 2 {
			out = append(out, c)
		}
	}
	return out
}

// defining returns the definition of a test, or of the nearest test around it.
func (d *definitions) defining(c metric.Test) *TestSource {
	for {
		if at := d.of(c); len(at) > 0 {
			return &d.list[at[0]]
		}
		parent, ok := c.Parent()
		if !ok {
			return nil
		}
		c.ID = parent
	}
}

// heldOut returns the result of the hold-out run for a finding: that a test broke, or
// else the one that proves least.
func (j *judge) heldOut(t Tampering) (Outcome, HeldOut) {
	var worst HeldOut
	for _, order := range []Outcome{Broke, NotHeld, Unbuilt, Held} {
		for _, h := range j.in.HeldOut {
			if h.File == t.File && h.Finding == t.Test && h.Outcome == order && worst.Outcome == "" {
				worst = h
			}
		}
	}
	return worst.Outcome, worst
}

// afterHoldOut returns the severity of a finding after the hold-out run. An original
// test that passes clears the change, by one step where the test was made empty. One
// that fails is no proof if the code changed as well, since the code may be meant to
// behave otherwise now.
func (j *judge) afterHoldOut(t Tampering) Severity {
	outcome, held := j.heldOut(t)
	switch {
	case !slices.Contains(heldPatterns, t.Pattern):
	case outcome == Held && t.Severity >= Critical: // emptied: it guards nothing any more
		return High
	case outcome == Held:
		return min(t.Severity, Medium)
	case slices.Contains(lostPatterns, t.Pattern) && j.failedBefore(t):
		return Critical
	case outcome == Broke && j.in.TestsAlone && slices.Contains(provenPatterns, t.Pattern) && !j.failsStill(held.ID) && !j.guarded(t):
		return Critical
	}
	return t.Severity
}

// failedBefore reports whether a test that the finding names failed in the tree
// that the iteration started from.
func (j *judge) failedBefore(t Tampering) bool {
	return slices.ContainsFunc(t.Cases(j.in.Previous.Set.Tests, j.in.Before, j.in.Renamed), metric.Test.Failed)
}

// failsStill reports whether the change to a test did not even help.
func (j *judge) failsStill(id metric.ID) bool {
	c, there := j.now.Tests.Lookup(id)
	return there && c.Failed()
}

// machineWord matches what a test asks its machine.
var machineWord = regexp.MustCompile(`(?i)^(get)?e?uid$|^goos$|^goarch$|^platform$|^process\.platform$|^os\.name$|^lookpath$|^which$|^short$|^windows$|^darwin$|^linux$|^root$|^arch$|^isroot$`)

// guarded reports whether the test asks its machine for something that it did not
// ask before: a test that fails on one machine alone is honestly loosened so.
func (j *judge) guarded(t Tampering) bool {
	asked := map[string]bool{}
	for _, d := range j.in.Before {
		if d.Def.Name == t.Test {
			for word := range d.Def.Tokens {
				asked[word] = true
			}
		}
	}
	return slices.ContainsFunc(j.in.After, func(d TestSource) bool {
		if d.File != t.File || d.Def.Name != t.Test {
			return false
		}
		for word := range d.Def.Tokens {
			if machineWord.MatchString(word) && !asked[word] {
				return true
			}
		}
		return false
	})
}
