package prompt

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/textstream"
)

// DefaultEvidenceTokens is the default size of the evidence in tokens, at about four bytes each.
const DefaultEvidenceTokens = 1500

// The files in the folder that [agent.EvidenceEnv] names.
const (
	EvidenceFile = "facts.md"      // all facts, in full length
	PatchFile    = "refused.patch" // the change of the last iteration, if it was rolled back
)

// Group is a list of facts of one kind, the most useful first.
type Group struct {
	Title string
	Unit  string // name of one fact, for the number of omitted ones
	Facts []string
}

// EvidenceText returns as many facts as fit into the budget, in tokens. A group takes at most
// half of the remaining space, so that it cannot hide the groups after it. The last line
// counts the omitted facts and names the file with all of them. Without facts the text is "".
func EvidenceText(groups []Group, budget int) string {
	groups = nonEmpty(groups)
	if len(groups) == 0 || budget <= 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("[supervise] What was measured:\n")
	space := bytesPerToken*budget - b.Len() - omittedLineBytes
	var omitted []string
	for i, g := range groups {
		limit := space
		if i < len(groups)-1 {
			limit = space / 2
		}
		text, n := g.textWithin(limit)
		b.WriteString(text)
		space -= len(text)
		if n < len(g.Facts) {
			omitted = append(omitted, fmt.Sprintf("%d × %s", len(g.Facts)-n, g.Unit))
		}
	}
	if len(omitted) > 0 {
		fmt.Fprintf(&b, "Left out here: %s. All of it is in $%s/%s.\n", strings.Join(omitted, ", "), agent.EvidenceEnv, EvidenceFile)
	}
	return strings.TrimSpace(b.String())
}

// omittedLineBytes is reserved for the line that counts the omitted facts.
const omittedLineBytes = 200

// AllEvidence returns all facts.
func AllEvidence(groups []Group) string {
	var b strings.Builder
	for _, g := range nonEmpty(groups) {
		text, _ := g.textWithin(1 << 40)
		b.WriteString(text + "\n")
	}
	return b.String()
}

// nonEmpty returns the groups with facts.
func nonEmpty(groups []Group) []Group {
	return slices.DeleteFunc(slices.Clone(groups), func(g Group) bool { return len(g.Facts) == 0 })
}

// textWithin writes the facts that fit into limit bytes, and returns their number.
func (g Group) textWithin(limit int) (string, int) {
	var b strings.Builder
	b.WriteString(g.Title + ":\n")
	n := 0
	for _, f := range g.Facts {
		line := "- " + strings.ReplaceAll(textstream.EscapeHidden(strings.TrimSpace(f)), "\n", "\n  ") + "\n"
		if b.Len()+len(line) > limit {
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
