package prompt

import (
	"fmt"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/textstream"
)

// DefaultEvidenceTokens is how many tokens the section has, at about four bytes each.
const DefaultEvidenceTokens = 1500

// The files in the folder that [agent.EvidenceEnv] names.
const (
	EvidenceFile = "facts.md"      // all facts, uncut
	PatchFile    = "refused.patch" // the whole change of the last iteration, where it was undone
)

// Group are facts of one kind, the most useful first.
type Group struct {
	Title string
	Unit  string // what a fact is called, to say how many are left out
	Facts []string
}

// EvidenceText returns as many of the facts as the budget has room for, in tokens. A group takes
// at most half of the room that is left, so that none hides those after it; what is left
// out is counted, with where it stands. "" where there are no facts.
func EvidenceText(groups []Group, budget int) string {
	groups = nonEmpty(groups)
	if len(groups) == 0 || budget <= 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("[supervise] What was measured:\n")
	room := bytesPerToken*budget - b.Len() - reserve
	var omitted []string
	for i, g := range groups {
		most := room
		if i < len(groups)-1 {
			most = room / 2
		}
		text, n := g.within(most)
		b.WriteString(text)
		room -= len(text)
		if left := len(g.Facts) - n; left > 0 {
			omitted = append(omitted, fmt.Sprintf("%d × %s", left, g.Unit))
		}
	}
	if len(omitted) > 0 {
		fmt.Fprintf(&b, "Left out here: %s. All of it is in $%s/%s.\n", strings.Join(omitted, ", "), agent.EvidenceEnv, EvidenceFile)
	}
	return strings.TrimSpace(b.String())
}

// reserve is the room in bytes for the line that says what is left out.
const reserve = 200

// AllEvidence returns all facts.
func AllEvidence(groups []Group) string {
	var b strings.Builder
	for _, g := range nonEmpty(groups) {
		text, _ := g.within(1 << 40)
		b.WriteString(text + "\n")
	}
	return b.String()
}

// nonEmpty drops groups without facts.
func nonEmpty(groups []Group) (out []Group) {
	for _, g := range groups {
		if len(g.Facts) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// within writes the facts that fit into so many bytes, and says how many they are.
func (g Group) within(most int) (string, int) {
	var b strings.Builder
	b.WriteString(g.Title + ":\n")
	n := 0
	for _, f := range g.Facts {
		line := "- " + strings.ReplaceAll(textstream.EscapeHidden(strings.TrimSpace(f)), "\n", "\n  ") + "\n"
		if b.Len()+len(line) > most {
			break
		}
		b.WriteString(line)
		n++
	}
	if n == 0 {
		return "", 0
	}
	return b.String(), n
}
