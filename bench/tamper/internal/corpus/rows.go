package corpus

import "strings"

// Tables returns the lists of at least four entries in and over a test: literals
// whose entries begin at one indentation, and attributes that repeat.
func (t *TestCase) Tables() [][]row {
	var out [][]row
	for i := t.Start; i <= t.Last(); i++ {
		trim := strings.TrimSpace(t.Lines[i])
		if attr := CaseAttr.FindString(trim); attr != "" {
			rows := []row{{i, i}}
			for i+1 < t.Head && CaseAttr.FindString(strings.TrimSpace(t.Lines[i+1])) == attr {
				i++
				rows = append(rows, row{i, i})
			}
			if len(rows) >= 3 {
				out = append(out, rows)
			}
			continue
		}
		if !strings.HasSuffix(trim, "[") && !strings.HasSuffix(trim, "{") && !strings.HasSuffix(trim, "(") {
			continue
		}
		over := strings.Join(t.Lines[max(t.Start, i-3):i+1], "\n")
		if trim != "[" && !Tabular.MatchString(trim) || trim == "[" && !Tabular.MatchString(over) || t.Lang.Assert.MatchString(t.Lines[i]) {
			continue
		}
		if rows := t.listAt(i); len(rows) >= 4 {
			out = append(out, rows)
		}
	}
	return out
}

func (t *TestCase) listAt(i int) []row {
	var rows []row
	ind := ""
	for j := i + 1; j <= t.Last(); j++ {
		line := t.Lines[j]
		trim := strings.TrimSpace(line)
		if trim == "" {
			continue
		}
		in := IndentOf(line)
		switch {
		case len(in) <= len(IndentOf(t.Lines[i])):
			if strings.IndexByte("]})", trim[0]) >= 0 && closed(t.Lines, rows) {
				return rows
			}
			return nil
		case ind == "":
			ind = in
			fallthrough
		case in == ind:
			if strings.HasPrefix(trim, t.Lang.Comment) || strings.IndexByte("]})", trim[0]) >= 0 {
				if len(rows) > 0 {
					rows[len(rows)-1].To = j
				}
				continue
			}
			if !rowStart.MatchString(trim) {
				return nil
			}
			rows = append(rows, row{j, j})
		case len(rows) > 0:
			rows[len(rows)-1].To = j
		}
	}
	return nil
}

// row is one entry of a table of cases, in lines.
type row = span

// CaseAttr matches annotations that hold a row of a table.
var CaseAttr = Re(`^(\[InlineData|\[TestCase|#\[case|#\[test_case|@TestWith)`)

// closed says that each row, but perhaps the last, ends with a comma.
func closed(lines []string, rows []row) bool {
	for i, r := range rows {
		end := strings.TrimSpace(lines[r.To])
		if c := strings.Index(end, " //"); c > 0 {
			end = strings.TrimSpace(end[:c])
		}
		if i < len(rows)-1 && !strings.HasSuffix(end, ",") {
			return false
		}
	}
	return len(rows) > 0
}

var rowStart = Re(`^(\{|\[|\(|"|'|-?\d|pytest\.param|arguments\(|Arguments\.of|new |yield |case |#\[case|\[InlineData|\[TestCase|\w+\{|&|%\{|"[^"]*": |'[^']*' => )`)

// Tabular is how the line looks that opens a list of cases, not of other things.
var Tabular = Re(`(?i)(parametrize|\.each|cases|tests|table|\btt\b|data|inputs|params|examples|for .* (in|of) |range |Source|listOf|arrayOf|arguments:|\[\]struct|map\[\w+\])`)
