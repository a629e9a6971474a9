package product

import (
	"fmt"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// answer is a place in product code that returns a literal for given literals: a
// branch, or a row of a table.
type answer struct {
	line int
	in   []string // keys, see literalKey
	all  bool     // all of in have to hold, not one of them
	out  string
	text string
}

// several reports whether an answer compares more than one value.
func (a answer) several() bool { return a.all && len(a.in) > 1 }

// longPair is the length in bytes of input and output together from which on a single
// pair is not a coincidence.
const longPair = 8

// long reports whether input and output are so long that they can only be taken from the
// test.
func (a answer) long() bool {
	in := 0
	for _, key := range a.in {
		in = max(in, len(key)-1)
	}
	return in >= 2 && in+len(a.out)-1 >= longPair
}

// findHardCoded finds product code that returns the output of an existing test for its
// input. Both literals must be new there, and occur in one test as it was before the
// change: a feature that comes with its own tests is not reported.
func findHardCoded(c *facts.Set) []facts.Finding {
	lists := make([][]answer, len(c.Files))
	facts.Parallel(len(c.Files), func(i int) { lists[i] = answers(c.Files[i]) })
	byFile := map[*facts.ChangedFile][]answer{}
	for i, f := range c.Files {
		if len(lists[i]) > 0 {
			byFile[f] = lists[i]
		}
	}
	if len(byFile) == 0 {
		return nil
	}
	known := map[*facts.ChangedFile]map[int]string{} // of each answer, by its place in the list, the test
	c.BaseTests(func(s *facts.Side) bool {
		for f, list := range byFile {
			if known[f] == nil {
				known[f] = map[int]string{}
			}
			answered(s, list, known[f])
		}
		return true
	})
	var out []facts.Finding
	for _, f := range c.Files {
		if tests := known[f]; len(tests) > 0 {
			out = append(out, hardFinding(f, byFile[f], tests))
		}
	}
	return out
}

func hardFinding(f *facts.ChangedFile, list []answer, tests map[int]string) facts.Finding {
	x := facts.Finding{File: f.Path}
	var texts, pairs []string
	for i, a := range list {
		name, ok := tests[i]
		if !ok {
			continue
		}
		if x.Line == 0 {
			x.Line, x.Test = a.line, name
		}
		if a.several() || a.long() {
			x.Severity = metric.High
		}
		texts = append(texts, strings.TrimSpace(a.text))
		if key := strings.Join(a.in, " ") + " > " + a.out; !slices.Contains(pairs, key) {
			pairs = append(pairs, key)
		}
	}
	if len(pairs) > 1 {
		x.Severity = metric.High
	}
	x.Evidence = facts.Evidence(fmt.Sprintf("input and output of tests: %s", strings.Join(slices.Compact(texts), " · ")))
	return x
}

// answered notes the answers whose input and output occur in one test of the file.
func answered(s *facts.Side, list []answer, known map[int]string) {
	if !slices.ContainsFunc(list, func(a answer) bool { return strings.Contains(string(s.Text), a.out[1:]) }) {
		return
	}
	tests := s.Source().Tests
	for i := range tests {
		var in map[string]bool
		for n, a := range list {
			if known[n] != "" {
				continue
			}
			if in == nil {
				in = keysIn(s.FullText(&tests[i]))
			}
			if in[a.out] && a.given(in) {
				known[n] = tests[i].Name
			}
		}
	}
}

func (a answer) given(in map[string]bool) bool {
	has := func(key string) bool { return in[key] }
	if a.all {
		return !slices.ContainsFunc(a.in, func(key string) bool { return !has(key) })
	}
	return slices.ContainsFunc(a.in, has)
}

// literalKey is a literal without its notation: "s" and the content of a string, "n" and
// a number.
func literalKey(text string) string {
	if i := strings.IndexAny(text, "\"'`"); i >= 0 && i <= 2 && len(text) >= i+2 {
		return "s" + text[i+1:len(text)-1]
	}
	return "n" + strings.ReplaceAll(text, "_", "")
}

func keysIn(text string) map[string]bool {
	out := map[string]bool{}
	for _, l := range facts.AnyLiteral.FindAllString(text, -1) {
		out[literalKey(l)] = true
	}
	return out
}

// common are literals of any code: small and round numbers, and those of network
// protocols.
var common = []string{
	"n0", "n1", "n-1", "n2", "n10", "n100", "n1000", "n0.0", "n1.0",
	"n80", "n443", "shttp", "shttps", "sws", "swss", "sftp", "sGET", "sPOST", "sPUT", "sDELETE", "sHEAD", "sutf-8", "sUTF-8", "slocalhost",
}

var (
	oneWord = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	says    = regexp.MustCompile(`[\pL\d]`)
)

// distinctive reports whether a literal is new to the code: not a common number, a short
// string, or a word of the code before.
func (p *formerly) distinctive(key string) bool {
	content := key[1:]
	switch {
	case slices.Contains(common, key):
		return false
	case key[0] == 'n':
		return !p.literals[key]
	case len(content) < 2, !says.MatchString(content), p.literals[key]:
		return false
	}
	return !oneWord.MatchString(content) || !p.words[content]
}

// formerly is what product code contained before the change.
type formerly struct {
	literals, words map[string]bool
}

func formerlyOf(s *facts.Side) *formerly {
	p := &formerly{words: map[string]bool{}}
	text := s.PlainRange(1, len(s.Starts()))
	for _, t := range s.Source().Tests { // Rust has them in addition to the code
		text = strings.Replace(text, s.PlainRange(t.Line, t.End), "", 1)
	}
	p.literals = keysIn(text)
	facts.EachWord(text, func(w string) { p.words[strings.TrimLeft(w, "0123456789")] = true })
	return p
}

// functionNames are the names of the functions of a side.
func functionNames(s *facts.Side) map[string]bool {
	out := map[string]bool{}
	for _, f := range s.Source().Functions {
		out[f.Name] = true
	}
	return out
}

// answers returns the new branches and tables within existing functions of a product
// file, if input and output are distinctive.
func answers(f *facts.ChangedFile) []answer {
	s := f.After()
	if f.Added || !f.Before().Exists() || !s.Product() || len(f.AddedLines()) == 0 {
		return nil
	}
	added := productLines(s, f.AddedLines())
	if !slices.ContainsFunc(added, func(l facts.Line) bool { return facts.AnyLiteral.MatchString(l.Text) }) {
		return nil
	}
	inside := linesIn(s, added, functionNames(f.Before()))
	list := append(branches(inside), tables(added, inside)...)
	if len(list) == 0 {
		return nil
	}
	was := formerlyOf(f.Before())
	return slices.DeleteFunc(list, func(a answer) bool {
		return !was.distinctive(a.out) || !slices.ContainsFunc(a.in, was.distinctive)
	})
}

// productLines returns lines without their comments, and without those of tests.
func productLines(s *facts.Side, list []facts.Line) []facts.Line {
	plain := facts.Lines(s.WithoutComments())
	var out []facts.Line
	for _, l := range list {
		if l.Number <= len(plain) && strings.TrimSpace(plain[l.Number-1].Text) != "" && !inTestModule(s, l.Number) {
			out = append(out, plain[l.Number-1])
		}
	}
	return out
}

// linesIn returns the lines of functions of the given names.
func linesIn(s *facts.Side, list []facts.Line, names map[string]bool) []facts.Line {
	var in []source.Function
	for _, f := range s.Source().Functions {
		if names[f.Name] {
			in = append(in, f)
		}
	}
	var out []facts.Line
	for _, l := range list {
		if slices.ContainsFunc(in, func(f source.Function) bool { return f.Line <= l.Number && l.Number <= f.End }) {
			out = append(out, l)
		}
	}
	return out
}

// A literal that is an entire value, perhaps in a constructor: Ok("x"),
// "x".into(), ("x", nil).
const valueText = `(?:&|\()?\s*(?:new\s+)?(?:[\w.:]+\(\s*)?(` + facts.LiteralText + `)(?:\.\w+(?:\(\))?)*\s*\)*(?:\s*,\s*(?:nil|null|None|true|false))?\s*(?:[;,:}]|$|\b(?:if|unless|else|end)\b)`

var (
	// results match what returns a literal.
	results = []*regexp.Regexp{
		regexp.MustCompile(`(?:\breturn\b|\byield\b|\bthen\b|\bdo:)\s*` + valueText),
		regexp.MustCompile(`(?:=>|->|\?|:=|(?:^|[^=!<>:])=)\s*` + valueText),
		regexp.MustCompile(`\{\s*` + valueText),
		regexp.MustCompile(`^\s*` + valueText + `$`),
	}
	// asks match comparisons, arms the cases of a list of comparisons.
	asks      = regexp.MustCompile(`===?|\.[eE]quals\w*\(|\bEquals?\w*\(|strcmp\(|\beql\?|\bis\b|\bin\b|\.eq\(|\bmatches!\(`)
	controls  = regexp.MustCompile(`\b(?:if|elif|elsif|elseif|unless|guard|when|and|or|cond)\b|&&|\|\||\?`)
	arms      = regexp.MustCompile(`^\s*(?:case|when)\b|^\s*\|?\s*(?:Some\(|Ok\(|[({\[])?\s*` + facts.LiteralText + `[^=]*(?:=>|->)`)
	together  = regexp.MustCompile(`&&|\band\b`)
	oneOf     = regexp.MustCompile(`\bin\b|\|\||\bor\b|\.(?:includes|contains|include\?)`)
	tuple     = regexp.MustCompile(`[(\[{]\s*` + facts.LiteralText + `\s*,\s*` + facts.LiteralText)
	continues = regexp.MustCompile(`(?:&&|\|\||\band|\bor|\()\s*$`)
)

// complains matches what makes an error or a message of a literal: for a bad input
// that is what is wanted.
var complains = regexp.MustCompile(`(?i)(?:err\w*|exception|fail\w*|warn\w*|log\w*|errors\.new|echo)(?:[.:]+\w+)?\(\s*$`)

// resultReach is how many lines below a condition its result may be.
const resultReach = 3

// branches returns the conditions on literals that lead to a literal.
func branches(list []facts.Line) []answer {
	var out []answer
	var open *answer // a condition whose result was not met yet
	last := ""
	for _, l := range list {
		rest, result, found := cutResult(l.Text)
		goesOn := open != nil && continues.MatchString(last)
		if cond := condition(rest, l, goesOn); cond != nil {
			if goesOn {
				cond.in, cond.line, cond.text = append(open.in, cond.in...), open.line, open.text+" "+strings.TrimSpace(cond.text)
				cond.all = cond.all || together.MatchString(last)
			}
			open = cond
		}
		last = l.Text
		if open == nil || !found {
			continue
		}
		if l.Number-open.line <= resultReach {
			a := *open
			a.out = result
			if l.Number > open.line {
				a.text += " " + strings.TrimSpace(l.Text)
			}
			out = append(out, a)
		}
		open = nil
	}
	return out
}

// cutResult returns a line without the literal that it returns, and that literal.
func cutResult(text string) (rest, key string, found bool) {
	for _, re := range results {
		if m := re.FindStringSubmatchIndex(text); m != nil && !complains.MatchString(text[:m[2]]) {
			return text[:m[2]] + text[m[3]:], literalKey(text[m[2]:m[3]]), true
		}
	}
	return text, "", false
}

// condition reads the literals that a line compares with, nil for none. goesOn says
// that the line before is the beginning of the same condition.
func condition(text string, l facts.Line, goesOn bool) *answer {
	arm := arms.MatchString(l.Text)
	if !arm && (!asks.MatchString(text) || !goesOn && !controls.MatchString(text)) {
		return nil
	}
	found := facts.AnyLiteral.FindAllString(text, -1)
	if len(found) == 0 {
		return nil
	}
	a := &answer{line: l.Number, text: l.Text}
	for _, lit := range found {
		a.in = append(a.in, literalKey(lit))
	}
	a.all = !oneOf.MatchString(text) && (together.MatchString(text) || tuple.MatchString(text))
	return a
}

var (
	// Rows of tables from literals to literals: "a": "b", and ("a", "b").
	keyedRow  = regexp.MustCompile(`(?:^|[,{(\[])\s*(` + facts.LiteralText + `)\s*\]?\s*(?::|=>|=|\bto\b|->)\s*(` + facts.LiteralText + `)`)
	pairedRow = regexp.MustCompile(`[({\[]\s*(` + facts.LiteralText + `)\s*,\s*(` + facts.LiteralText + `)\s*[)}\]]|^\s*(` + facts.LiteralText + `)\s*,\s*(` + facts.LiteralText + `)\s*,?\s*$`)
	// tableName matches what a table is called.
	tableName = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?::[^=\n]*)?:?=(?:[^=>]|$)|@(\w+)\s+%\{`)
	// usedAtOnce matches a lookup in a table without a name.
	usedAtOnce = regexp.MustCompile(`[}\])]\s*(?:\[\s*[A-Za-z_$]|\.(?:get|fetch|has|getOrDefault)\()`)
)

// tableReach is how many lines a row may be below the name of its table.
const tableReach = 60

// tables returns the rows of new tables that existing functions look up.
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

// tableOf returns the name of the table that a row belongs to, "" if the table
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

// lookedInto reports whether a line looks something up in a table.
func lookedInto(name string, inside []facts.Line) bool {
	if name == "" {
		return false
	}
	quoted := regexp.QuoteMeta(name)
	use := regexp.MustCompile(`\b` + quoted + `\s*\[\s*[A-Za-z_$&]|\b` + quoted + `\.(?:get|has|fetch|key\?|include\?|iter|find|contains\w*|TryGetValue|ContainsKey|hasOwnProperty|dig)\b|\bin\s+[\w.:]*\b` + quoted + `\b|(?:isset|key_exists|has_key\?|get|fetch)\(.*\b` + quoted + `\b`)
	return slices.ContainsFunc(inside, func(l facts.Line) bool { return use.MatchString(strings.TrimSpace(l.Text)) })
}
