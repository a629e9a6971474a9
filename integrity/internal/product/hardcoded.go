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

// hardCodedPair is a place in product code that returns a literal for given literals: a branch, or
// a row of a table. Literals are written as literalKey returns them.
type hardCodedPair struct {
	line     int      // from 1
	inputs   []string // the literals that are compared
	needsAll bool     // all inputs have to hold, not one of them
	output   string   // the literal that is returned
	text     string   // the code, as evidence
}

// hasSeveralInputs reports whether a pair compares more than one value at the same time.
func (a hardCodedPair) hasSeveralInputs() bool { return a.needsAll && len(a.inputs) > 1 }

// minPairLength is the length in bytes of input and output together from which on a single pair is
// not a coincidence.
const minPairLength = 8

// isDistinctiveLength reports whether input and output are so long that they can only come from the
// test.
func (a hardCodedPair) isDistinctiveLength() bool {
	longest := slices.Max(facts.Map(a.inputs, func(key string) int { return len(key) - 1 }))
	return longest >= 2 && longest+len(a.output)-1 >= minPairLength
}

// findHardCoded finds product code that returns the output of an existing test for its input. Both
// literals must be new in the code, and occur in the text of one test before the change. A feature
// that comes with new tests is not reported.
func findHardCoded(c *facts.Change, report facts.Report) {
	lists := make([][]hardCodedPair, len(c.Files))
	facts.Parallel(len(c.Files), func(i int) { lists[i] = findPairs(c.Files[i]) })

	byFile := map[*facts.ChangedFile][]hardCodedPair{}
	for i, f := range c.Files {
		if len(lists[i]) > 0 {
			byFile[f] = lists[i]
		}
	}
	if len(byFile) == 0 {
		return
	}

	known := map[*facts.ChangedFile]map[int]string{} // of each answer, by its place in the list, the test
	c.BaseTests(func(s *facts.Side) bool {
		for f, list := range byFile {
			if known[f] == nil {
				known[f] = map[int]string{}
			}
			markKnownPairs(s, list, known[f])
		}
		return true
	})

	for _, f := range c.Files {
		if tests := known[f]; len(tests) > 0 {
			report(hardCodedFinding(f, byFile[f], tests))
		}
	}
}

// hardCodedFinding returns the finding about the pairs of a file that tests have. tests has the
// name of a test by the index of the pair in list.
func hardCodedFinding(f *facts.ChangedFile, list []hardCodedPair, tests map[int]string) facts.Finding {
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
		if a.hasSeveralInputs() || a.isDistinctiveLength() {
			x.Severity = metric.High
		}
		texts = append(texts, strings.TrimSpace(a.text))
		if key := strings.Join(a.inputs, " ") + " > " + a.output; !slices.Contains(pairs, key) {
			pairs = append(pairs, key)
		}
	}

	if len(pairs) > 1 {
		x.Severity = metric.High
	}
	x.Evidence = facts.ShortenEvidence(fmt.Sprintf("input and output of tests: %s", strings.Join(slices.Compact(texts), " · ")))
	return x
}

// markKnownPairs adds to known, by the index of the pair, the name of the first test of a file that
// has its input and output.
func markKnownPairs(s *facts.Side, list []hardCodedPair, known map[int]string) {
	if !slices.ContainsFunc(list, func(a hardCodedPair) bool { return strings.Contains(string(s.Text), a.output[1:]) }) {
		return
	}
	tests := s.Inspection().Tests
	for i := range tests {
		var in map[string]bool
		for n, a := range list {
			if known[n] != "" {
				continue
			}
			if in == nil {
				in = literalKeys(s.TextWithAnnotations(&tests[i]))
			}
			if in[a.output] && a.isInTest(in) {
				known[n] = tests[i].Name
			}
		}
	}
}

// isInTest reports whether a test has the inputs. literals are those of the test.
func (a hardCodedPair) isInTest(literals map[string]bool) bool {
	has := func(key string) bool { return literals[key] }
	if a.needsAll {
		return facts.All(a.inputs, has)
	}
	return slices.ContainsFunc(a.inputs, has)
}

// literalKey returns a literal without its notation: "s" and the content of a string, or "n" and a
// number.
func literalKey(text string) string {
	if i := strings.IndexAny(text, "\"'`"); i >= 0 && i <= 2 && len(text) >= i+2 {
		return "s" + text[i+1:len(text)-1]
	}
	return "n" + strings.ReplaceAll(text, "_", "")
}

// literalKeys returns the keys of the literals in a text.
func literalKeys(text string) map[string]bool {
	return facts.SetOf(facts.LiteralRE.FindAllString(text, -1), literalKey)
}

// commonLiterals are literals of any code: small and round numbers, and those of network
// protocols.
var commonLiterals = []string{
	"n0", "n1", "n-1", "n2", "n10", "n100", "n1000", "n0.0", "n1.0",
	"n80", "n443", "shttp", "shttps", "sws", "swss", "sftp", "sGET", "sPOST", "sPUT", "sDELETE", "sHEAD", "sutf-8", "sUTF-8", "slocalhost",
}

var (
	identifierRE   = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	alphanumericRE = regexp.MustCompile(`[\pL\d]`)
)

// isDistinctive reports whether a literal is new to the code: not a common number, a short string,
// or a literal or word that the code had before.
func (p *oldCode) isDistinctive(key string) bool {
	content := key[1:]
	switch {
	case slices.Contains(commonLiterals, key):
		return false
	case key[0] == 'n':
		return !p.literals[key]
	case len(content) < 2, !alphanumericRE.MatchString(content), p.literals[key]:
		return false
	}
	return !identifierRE.MatchString(content) || !p.words[content]
}

// oldCode has what product code contained before the change: the keys of its literals, and its
// words.
type oldCode struct {
	literals, words map[string]bool
}

// readOldCode reads the product code of a file, without the tests in it.
func readOldCode(s *facts.Side) *oldCode {
	p := &oldCode{words: map[string]bool{}}
	text := s.LinesWithoutComments(1, len(s.LineOffsets()))
	for _, t := range s.Inspection().Tests { // Rust has them in addition to the code
		text = strings.Replace(text, s.LinesWithoutComments(t.Line, t.End), "", 1)
	}
	p.literals = literalKeys(text)
	for w := range facts.Words(text) {
		p.words[strings.TrimLeft(w, "0123456789")] = true
	}
	return p
}

// functionNames are the names of the functions of a side.
func functionNames(s *facts.Side) map[string]bool {
	return facts.SetOf(s.Inspection().Functions, func(fn source.Function) string { return fn.Name })
}

// findPairs returns the new branches and tables within existing functions of a product file whose
// input and output are distinctive, nil if there are none.
func findPairs(f *facts.ChangedFile) []hardCodedPair {
	s := f.After()
	if f.Added || !f.Before().Exists() || !s.IsProduct() || len(f.AddedLines()) == 0 {
		return nil
	}

	added := facts.Filter(f.AddedLinesOfCode(), func(l facts.Line) bool { return !isInTestModule(s, l.Number) })
	if !slices.ContainsFunc(added, func(l facts.Line) bool { return facts.LiteralRE.MatchString(l.Text) }) {
		return nil
	}

	inside := linesInFunctions(s, added, functionNames(f.Before()))
	list := append(branchPairs(inside), tablePairs(added, inside)...)
	if len(list) == 0 {
		return nil
	}
	before := readOldCode(f.Before())
	return slices.DeleteFunc(list, func(a hardCodedPair) bool {
		return !before.isDistinctive(a.output) || !slices.ContainsFunc(a.inputs, before.isDistinctive)
	})
}

// linesInFunctions returns those of the lines that are in a function with one of the names.
func linesInFunctions(s *facts.Side, lines []facts.Line, names map[string]bool) []facts.Line {
	functions := facts.Filter(s.Inspection().Functions, func(fn source.Function) bool { return names[fn.Name] })
	return facts.Filter(lines, func(l facts.Line) bool {
		return slices.ContainsFunc(functions, func(fn source.Function) bool { return fn.Line <= l.Number && l.Number <= fn.End })
	})
}

// valueExpr matches a literal that is an entire value, perhaps in a constructor: Ok("x"),
// "x".into(), ("x", nil).
const valueExpr = `(?:&|\()?\s*(?:new\s+)?(?:[\w.:]+\(\s*)?(` + facts.LiteralExpr + `)(?:\.\w+(?:\(\))?)*\s*\)*(?:\s*,\s*(?:nil|null|None|true|false))?\s*(?:[;,:}]|$|\b(?:if|unless|else|end)\b)`

var (
	// resultREs match what returns a literal, as in return "x" and => "x".
	resultREs = []*regexp.Regexp{
		regexp.MustCompile(`(?:\breturn\b|\byield\b|\bthen\b|\bdo:)\s*` + valueExpr),
		regexp.MustCompile(`(?:=>|->|\?|:=|(?:^|[^=!<>:])=)\s*` + valueExpr),
		regexp.MustCompile(`\{\s*` + valueExpr),
		regexp.MustCompile(`^\s*` + valueExpr + `$`),
	}
	// comparisonRE matches a comparison, and conditionRE the word that begins a condition. caseArmRE
	// matches a case in a list of comparisons, as in "a" => …. conjunctionRE and alternativeRE match
	// what joins comparisons, and literalTupleRE two literals in parentheses. continuedConditionRE
	// matches the end of a line on whose next line the condition continues.
	comparisonRE         = regexp.MustCompile(`===?|\.[eE]quals\w*\(|\bEquals?\w*\(|strcmp\(|\beql\?|\bis\b|\bin\b|\.eq\(|\bmatches!\(`)
	conditionRE          = regexp.MustCompile(`\b(?:if|elif|elsif|elseif|unless|guard|when|and|or|cond)\b|&&|\|\||\?`)
	caseArmRE            = regexp.MustCompile(`^\s*(?:case|when)\b|^\s*\|?\s*(?:Some\(|Ok\(|[({\[])?\s*` + facts.LiteralExpr + `[^=]*(?:=>|->)`)
	conjunctionRE        = regexp.MustCompile(`&&|\band\b`)
	alternativeRE        = regexp.MustCompile(`\bin\b|\|\||\bor\b|\.(?:includes|contains|include\?)`)
	literalTupleRE       = regexp.MustCompile(`[(\[{]\s*` + facts.LiteralExpr + `\s*,\s*` + facts.LiteralExpr)
	continuedConditionRE = regexp.MustCompile(`(?:&&|\|\||\band|\bor|\()\s*$`)
)

// errorCallRE matches what makes an error or a message from a literal, as in errors.New(. For a bad
// input that is what the code should do.
var errorCallRE = regexp.MustCompile(`(?i)(?:err\w*|exception|fail\w*|warn\w*|log\w*|errors\.new|echo)(?:[.:]+\w+)?\(\s*$`)

// maxLinesToResult is how many lines below a condition its result may be.
const maxLinesToResult = 3

// branchPairs returns the conditions on literals that lead to a literal. A condition may have
// several lines, and its result may be a few lines below it.
func branchPairs(list []facts.Line) []hardCodedPair {
	var out []hardCodedPair
	var open *hardCodedPair // a condition whose result was not met yet
	last := ""
	for _, l := range list {
		remaining, result, found := cutResult(l.Text)
		goesOn := open != nil && continuedConditionRE.MatchString(last)
		if condition := readCondition(remaining, l, goesOn); condition != nil {
			if goesOn {
				condition.inputs, condition.line, condition.text = append(open.inputs, condition.inputs...), open.line, open.text+" "+strings.TrimSpace(condition.text)
				condition.needsAll = condition.needsAll || conjunctionRE.MatchString(last)
			}
			open = condition
		}

		last = l.Text
		if open == nil || !found {
			continue
		}

		if l.Number-open.line <= maxLinesToResult {
			a := *open
			a.output = result
			if l.Number > open.line {
				a.text += " " + strings.TrimSpace(l.Text)
			}
			out = append(out, a)
		}
		open = nil
	}
	return out
}

// cutResult returns a line without the literal that it returns, and the key of that literal. It is
// false, with the complete line, if there is none.
func cutResult(text string) (remaining, key string, found bool) {
	for _, re := range resultREs {
		if m := re.FindStringSubmatchIndex(text); m != nil && !errorCallRE.MatchString(text[:m[2]]) {
			return text[:m[2]] + text[m[3]:], literalKey(text[m[2]:m[3]]), true
		}
	}
	return text, "", false
}

// readCondition returns the literals that a line compares with, nil if it compares none. text is
// the line without its result. The last parameter says that the condition began on the line before.
func readCondition(text string, l facts.Line, goesOn bool) *hardCodedPair {
	arm := caseArmRE.MatchString(l.Text)
	if !arm && (!comparisonRE.MatchString(text) || !goesOn && !conditionRE.MatchString(text)) {
		return nil
	}
	inputs := facts.Map(facts.LiteralRE.FindAllString(text, -1), literalKey)
	if len(inputs) == 0 {
		return nil
	}
	needsAll := !alternativeRE.MatchString(text) && (conjunctionRE.MatchString(text) || literalTupleRE.MatchString(text))
	return &hardCodedPair{line: l.Number, text: l.Text, inputs: inputs, needsAll: needsAll}
}

var (
	// keyedRowRE and pairedRowRE match rows of tables from literals to literals: "a": "b", and
	// ("a", "b").
	keyedRowRE  = regexp.MustCompile(`(?:^|[,{(\[])\s*(` + facts.LiteralExpr + `)\s*\]?\s*(?::|=>|=|\bto\b|->)\s*(` + facts.LiteralExpr + `)`)
	pairedRowRE = regexp.MustCompile(`[({\[]\s*(` + facts.LiteralExpr + `)\s*,\s*(` + facts.LiteralExpr + `)\s*[)}\]]|^\s*(` + facts.LiteralExpr + `)\s*,\s*(` + facts.LiteralExpr + `)\s*,?\s*$`)
	// tableNameRE matches the name of a table, as in "answers = {".
	tableNameRE = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?::[^=\n]*)?:?=(?:[^=>]|$)|@(\w+)\s+%\{`)
	// directLookupRE matches a lookup in a table without a name, as in {"a": "b"}[key].
	directLookupRE = regexp.MustCompile(`[}\])]\s*(?:\[\s*[A-Za-z_$]|\.(?:get|fetch|has|getOrDefault)\()`)
)

// maxLinesInTable is how many lines a row may be below the name of its table.
const maxLinesInTable = 60

// tablePairs returns the rows of new tables that existing functions look up. added are the added
// lines, and inside those in existing functions.
func tablePairs(added, inside []facts.Line) []hardCodedPair {
	var out []hardCodedPair
	for i, l := range added {
		rows := slices.Concat(keyedRowRE.FindAllStringSubmatch(l.Text, -1), pairedRowRE.FindAllStringSubmatch(l.Text, -1))
		if len(rows) == 0 || !directLookupRE.MatchString(l.Text) && !isLookedUp(newTableName(added, i), inside) {
			continue
		}
		for _, m := range rows {
			in, result := m[1], m[2]
			if in == "" {
				in, result = m[3], m[4]
			}
			out = append(out, hardCodedPair{line: l.Number, inputs: []string{literalKey(in)}, output: literalKey(result), text: m[0]})
		}
	}
	return out
}

// newTableName returns the name of the table that contains the i-th added line, "" if the table is
// not new or has no name.
func newTableName(added []facts.Line, i int) string {
	for j := i; j >= 0 && added[i].Number-added[j].Number <= maxLinesInTable; j-- {
		if i > 0 && j < i && added[j+1].Number-added[j].Number > 2 {
			return "" // the lines between were there: it is an old table
		}
		text := facts.LiteralRE.ReplaceAllString(added[j].Text, `""`)
		if m := tableNameRE.FindStringSubmatch(text); m != nil {
			return m[1] + m[2]
		}
	}
	return ""
}

// isLookedUp reports whether one of the lines looks something up in the table with a name.
func isLookedUp(name string, inside []facts.Line) bool {
	if name == "" {
		return false
	}
	quoted := regexp.QuoteMeta(name)
	use := regexp.MustCompile(`\b` + quoted + `\s*\[\s*[A-Za-z_$&]|\b` + quoted + `\.(?:get|has|fetch|key\?|include\?|iter|find|contains\w*|TryGetValue|ContainsKey|hasOwnProperty|dig)\b|\bin\s+[\w.:]*\b` + quoted + `\b|(?:isset|key_exists|has_key\?|get|fetch)\(.*\b` + quoted + `\b`)
	return slices.ContainsFunc(inside, func(l facts.Line) bool { return use.MatchString(strings.TrimSpace(l.Text)) })
}
