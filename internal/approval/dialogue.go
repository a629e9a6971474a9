package approval

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
)

// dialogue is the exchange with the user at a terminal.
type dialogue struct {
	q         Question
	out       io.Writer
	self, by  string
	approving bool // the next line is the reason
}

// maxListed is the number of findings and tests that are shown.
const maxListed = 12

// Text returns the question for the terminal, without the choices.
func (q Question) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - iteration %d of %s\n", titles[q.Kind], q.Iteration, q.LoopID)
	list := func(lines []string, prefix string) {
		for i, line := range lines {
			if i == maxListed {
				fmt.Fprintf(&b, "%sand %d more\n", prefix, len(lines)-i)
				return
			}
			fmt.Fprintf(&b, "%s%s\n", prefix, clean(line))
		}
	}
	list(q.Findings, "  ")
	list(q.Tests, "  - ")
	for _, n := range q.Numbers {
		fmt.Fprintf(&b, "  %-9s %s → %s\n", n.Name, orNot(n.Before), orNot(n.After))
	}
	if q.Diagnosis != "" {
		fmt.Fprintf(&b, "  diagnosis: %s\n", clean(q.Diagnosis))
	}
	if q.Why != "" {
		fmt.Fprintf(&b, "  asked because %s\n", clean(q.Why))
	}
	return b.String()
}

func orNot(text string) string {
	if text == "" {
		return "not measured"
	}
	return text
}

// clean removes control characters: parts of the text come from the agent.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, text)
}

func (d *dialogue) say(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

func (d *dialogue) open() {
	d.say("\n%s\n", d.q.Text())
	d.choices()
}

func (d *dialogue) choices() {
	d.say("%s[3] abort the loop\n[d] show the diff\n", d.q.answers())
	if d.self != "" {
		d.say("or in another terminal: %s reject|approve|abort %s\n", d.self, d.q.LoopID)
	}
	d.say("Your choice: ")
}

// answers returns what rejecting and approving mean for the question.
func (q Question) answers() string {
	switch {
	case q.Kind == Blocked && len(q.Tests) > 0:
		return "[1] reject: the tests are right, and the agent continues\n[2] approve: the agent may change these tests (needs a reason)\n"
	case q.Kind == Blocked:
		return "[1] reject: it can be done, and the agent continues\n[2] approve: it cannot be done, and the loop ends (needs a reason)\n"
	}
	tree := fmt.Sprintf("iteration %d", q.Target)
	if q.Target == 0 {
		tree = "the baseline"
	}
	return "[1] reject and revert to " + tree + "\n[2] approve and continue (needs a reason)\n"
}

// take handles a typed line, and returns the answer if it is one.
func (d *dialogue) take(line string) (Answer, bool) {
	line = strings.TrimSpace(clean(line))
	a := Answer{User: d.by, Channel: ByTerminal, At: time.Now()}
	if d.approving {
		d.approving = false
		if line == "" {
			d.say("An approval needs a reason.\n")
			d.choices()
			return a, false
		}
		a.Choice, a.Reason = Approve, line
		return a, true
	}
	switch strings.ToLower(line) {
	case "1", "r", "reject":
		a.Choice = Reject
		return a, true
	case "3", "a", "abort":
		a.Choice = Abort
		return a, true
	case "2", "approve":
		d.approving = true
		d.say("Reason (will be recorded): ")
	case "d", "diff":
		d.diff()
		d.choices()
	default:
		d.say("Answer 1, 2, 3 or d: ")
	}
	return a, false
}

// answeredByOther shows an answer that did not come from this terminal.
func (d *dialogue) answeredByOther(a Answer) { d.say("\n%s\n", clean(a.String())) }

// maxDiff is the number of lines of the diff that are shown.
const maxDiff = 500

// diff shows the changes of the iteration.
func (d *dialogue) diff() {
	f, err := os.Open(d.q.Patch)
	if err != nil {
		d.say("cannot read the changes: %v\n", err)
		return
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for n := 0; ; n++ {
		line, err := r.ReadString('\n')
		switch {
		case n >= maxDiff:
			d.say("… and more: %s diff %s %d\n", d.self, d.q.LoopID, d.q.Iteration)
			return
		case line != "":
			d.say("%s\n", clean(strings.TrimRight(line, "\n")))
		}
		if err != nil {
			return
		}
	}
}
