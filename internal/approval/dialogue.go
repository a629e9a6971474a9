package approval

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
)

// dialogue is the exchange with the user at a terminal.
type dialogue struct {
	q                 Question
	out               io.Writer
	selfCommand, user string
	approving         bool // the next line is the reason
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
			fmt.Fprintf(&b, "%s%s\n", prefix, stripControl(line))
		}
	}
	list(q.Findings, "  ")
	list(q.Tests, "  - ")
	for _, n := range q.Numbers {
		fmt.Fprintf(&b, "  %-9s %s → %s\n", n.Name, cmp.Or(n.Before, "not measured"), cmp.Or(n.After, "not measured"))
	}
	if q.Diagnosis != "" {
		fmt.Fprintf(&b, "  diagnosis: %s\n", stripControl(q.Diagnosis))
	}
	if q.Why != "" {
		fmt.Fprintf(&b, "  asked because %s\n", stripControl(q.Why))
	}
	return b.String()
}

// stripControl removes control characters: parts of the text come from the agent.
func stripControl(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, text)
}

func (d *dialogue) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

func (d *dialogue) showQuestion() {
	d.printf("\n%s\n", d.q.Text())
	d.showChoices()
}

func (d *dialogue) showChoices() {
	d.printf("%s[3] abort the loop\n[d] show the diff\n", d.q.choiceTexts())
	if d.selfCommand != "" {
		d.printf("or in another terminal: %s reject|approve|abort %s\n", d.selfCommand, d.q.LoopID)
	}
	d.printf("Your choice: ")
}

// choiceTexts returns what rejecting and approving mean for the question.
func (q Question) choiceTexts() string {
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

// handleLine handles a typed line, and returns the answer if it is one.
func (d *dialogue) handleLine(line string) (Answer, bool) {
	line = strings.TrimSpace(stripControl(line))
	a := Answer{User: d.user, Channel: ByTerminal, At: time.Now()}
	if d.approving {
		d.approving = false
		if line == "" {
			d.printf("An approval needs a reason.\n")
			d.showChoices()
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
		d.printf("Reason (will be recorded): ")
	case "d", "diff":
		d.showDiff()
		d.showChoices()
	default:
		d.printf("Answer 1, 2, 3 or d: ")
	}
	return a, false
}

// showAnswer shows an answer that did not come from this terminal.
func (d *dialogue) showAnswer(a Answer) { d.printf("\n%s\n", stripControl(a.String())) }

// maxDiff is the number of lines of the diff that are shown.
const maxDiff = 500

// showDiff shows the changes of the iteration.
func (d *dialogue) showDiff() {
	f, err := os.Open(d.q.Patch)
	if err != nil {
		d.printf("cannot read the changes: %v\n", err)
		return
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for n := 0; ; n++ {
		line, err := r.ReadString('\n')
		switch {
		case n >= maxDiff:
			d.printf("… and more: %s diff %s %d\n", d.selfCommand, d.q.LoopID, d.q.Iteration)
			return
		case line != "":
			d.printf("%s\n", stripControl(strings.TrimRight(line, "\n")))
		}
		if err != nil {
			return
		}
	}
}
