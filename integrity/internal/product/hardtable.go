package product

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
)

var (
	// Rows of tables from literals to literals: "a": "b", and ("a", "b").
	keyedRow  = regexp.MustCompile(`(?:^|[,{(\[])\s*(` + facts.LiteralText + `)\s*\]?\s*(?::|=>|=|\bto\b|->)\s*(` + facts.LiteralText + `)`)
	pairedRow = regexp.MustCompile(`[({\[]\s*(` + facts.LiteralText + `)\s*,\s*(` + facts.LiteralText + `)\s*[)}\]]|^\s*(` + facts.LiteralText + `)\s*,\s*(` + facts.LiteralText + `)\s*,?\s*$`)
	// tableName matches what a table is called.
	tableName = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?::[^=\n]*)?:?=(?:[^=>]|$)|@(\w+)\s+%\{`)
	// usedAtOnce matches a table without a name that is looked into.
	usedAtOnce = regexp.MustCompile(`[}\])]\s*(?:\[\s*[A-Za-z_$]|\.(?:get|fetch|has|getOrDefault)\()`)
)

// tableReach is how many lines a row may be below the name of its table.
const tableReach = 60

// tables returns the rows of new tables that are looked into by lines within
// functions that were there.
func tables(added, inside []facts.Line) []answer {
	var out []answer
	for i, l := range added {
		rows := slices.Concat(keyedRow.FindAllStringSubmatch(l.Text, -1), pairedRow.FindAllStringSubmatch(l.Text, -1))
		if len(rows) == 0 || !usedAtOnce.MatchString(l.Text) && !lookedInto(tableOf(added, i), inside) {
			continue
		}
		for _, m := range rows {
			in, result := m[1], m[2]
			if in == "" {
				in, result = m[3], m[4]
			}
			out = append(out, answer{line: l.Number, in: []string{literalKey(in)}, out: literalKey(result), text: m[0]})
		}
	}
	return out
}

// tableOf returns the name of the table that a row belongs to, "" where the table
// is not new or has none.
func tableOf(added []facts.Line, i int) string {
	for j := i; j >= 0 && added[i].Number-added[j].Number <= tableReach; j-- {
		if i > 0 && j < i && added[j+1].Number-added[j].Number > 2 {
			return "" // the lines between were there: it is an old table
		}
		text := facts.AnyLiteral.ReplaceAllString(added[j].Text, `""`)
		if m := tableName.FindStringSubmatch(text); m != nil {
			return m[1] + m[2]
		}
	}
	return ""
}

// lookedInto reports whether a line takes something out of a table by a name.
func lookedInto(name string, inside []facts.Line) bool {
	if name == "" {
		return false
	}
	quoted := regexp.QuoteMeta(name)
	use := regexp.MustCompile(`\b` + quoted + `\s*\[\s*[A-Za-z_$&]|\b` + quoted + `\.(?:get|has|fetch|key\?|include\?|iter|find|contains\w*|TryGetValue|ContainsKey|hasOwnProperty|dig)\b|\bin\s+[\w.:]*\b` + quoted + `\b|(?:isset|key_exists|has_key\?|get|fetch)\(.*\b` + quoted + `\b`)
	return slices.ContainsFunc(inside, func(l facts.Line) bool { return use.MatchString(strings.TrimSpace(l.Text)) })
}
