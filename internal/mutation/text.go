package mutation

import (
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// syntax describes what the mutants of a language depend on.
type syntax struct {
	emptyStatement    string // replaces a dropped statement
	emptyResult       string // replaces a result; "" means a value of the function's type
	semicolons        bool   // every statement ends with a semicolon
	indented          bool   // indentation forms blocks, and no statement is within brackets
	wordOperators     bool   // the operators are the words and, or, not
	singleQuotes      bool   // a string may be in single quotes
	tightComparisons  bool   // a<b is a comparison; otherwise it may be a generic type
	parens            bool   // conditions are in parentheses
	validWithoutThrow bool   // a program is still valid if a throw statement is dropped
}

// syntaxes describe the languages other than Go.
var syntaxes = map[source.Language]syntax{
	source.Python:     {emptyStatement: "pass", emptyResult: "None", indented: true, wordOperators: true, singleQuotes: true, tightComparisons: true, validWithoutThrow: true},
	source.JavaScript: {emptyStatement: ";", emptyResult: "undefined", singleQuotes: true, tightComparisons: true, parens: true, validWithoutThrow: true},
	source.TypeScript: {emptyStatement: ";", emptyResult: "undefined as any", singleQuotes: true, parens: true, validWithoutThrow: true},
	source.PHP:        {emptyStatement: ";", emptyResult: "null", semicolons: true, singleQuotes: true, tightComparisons: true, parens: true, validWithoutThrow: true},
	source.Ruby:       {emptyStatement: "nil", emptyResult: "nil", singleQuotes: true, tightComparisons: true, validWithoutThrow: true},
	source.Java:       {emptyStatement: ";", semicolons: true, parens: true},
	source.CSharp:     {emptyStatement: ";", semicolons: true, parens: true},
	source.Kotlin:     {emptyStatement: "Unit", parens: true},
	source.Rust:       {emptyStatement: ";", semicolons: true},
}

// textFile is a file whose mutants are collected line by line.
type textFile struct {
	syntax
	lang    source.Language
	src     []byte
	lines   []string       // masked, without their ends
	offsets []int          // the byte at which each line starts
	types   map[int]string // the result type of the function around each line, see findResultTypes
	mutants []Mutant

	lineNo int    // index of the current line
	line   string // the current line, masked
}

// mutants returns the mutants of a file in a language with this syntax, without the names of the
// file and of the functions, which [MutantsOf] adds.
func (s syntax) mutants(lang source.Language, src []byte) []Mutant {
	t := &textFile{syntax: s, lang: lang, src: src}
	offset := 0
	for line := range strings.Lines(string(source.Mask(lang, src))) {
		t.lines, t.offsets = append(t.lines, strings.TrimRight(line, "\r\n")), append(t.offsets, offset)
		offset += len(line)
	}
	t.findResultTypes()
	depth := 0
	for t.lineNo, t.line = range t.lines {
		code := strings.TrimSpace(t.line)
		if open := depth; t.isMutable(code) {
			t.mutateCondition()
			t.mutateOperators()
			t.mutateConstants(code)
			if t.isStatement(code, open) {
				t.mutateStatement(code)
			}
		}
		depth = max(0, depth+strings.Count(t.line, "(")+strings.Count(t.line, "[")+strings.Count(t.line, "{")-
			strings.Count(t.line, ")")-strings.Count(t.line, "]")-strings.Count(t.line, "}"))
	}
	return t.mutants
}

// These expressions match the start of a line without its indentation:
//
//   - declarationRE matches declarations, which have no behavior to change: import os, class Cart,
//     const {a, b} = require("x"), or if __name__ == "__main__".
//   - outputCallRE matches calls that print or log, or make the text of an error, whose effect no
//     test checks: logger.info("x"), fmt.Errorf("x"), assert x.
//   - throwRE matches raise ValueError("x") and throw error.
var (
	declarationRE = regexp.MustCompile(`^(import|from|package|using|use|require(_once|_relative)?|include|namespace|module|class|interface|trait|enum|struct|type|mod|impl|extern|annotation|@|#|export\s+(\*|\{|type|interface|class)|const\s+\{?[\w\s,]+\}?\s*=\s*require\b|__all__\b|__version__\b|'use|"use|"""|'''|if\s+__name__)`)
	outputCallRE  = regexp.MustCompile(`(?i)^([\w$]+(\.|->|::))*(log|logger|logging|slog|logrus|console)(\.|->|::)|^((fmt|System\.out|std)\W+)?(print|println|printf|eprintln|puts|echo|eprint)!?\b|^fmt\.Print|^(fmt\.Errorf|errors\.(New|Wrap|Wrapf|Errorf)|panic|warnings\.warn|assert|debug_assert)\W`)
	throwRE       = regexp.MustCompile(`^(raise|throw)\b`)
)

// isMutable reports whether a line may have mutants. Declarations, output, docstrings and very
// long lines, which are mostly data, have none.
func (t *textFile) isMutable(code string) bool {
	return code != "" && !declarationRE.MatchString(code) && !outputCallRE.MatchString(code) && code[0] != '"' && code[0] != '\'' && len(code) < 400
}

// add adds a mutant that replaces the bytes from..to of the current line by the text.
func (t *textFile) add(o Operator, from, to int, text string) {
	start := t.offsets[t.lineNo]
	t.mutants = append(t.mutants, Mutant{Operator: o, start: start + from, end: start + to, replacement: text})
}

// spacedOperatorRE matches an operator with blanks around it: a + b, x not in y. tightOperatorRE
// matches one without blanks: a+b, f(x)==1.
var (
	spacedOperatorRE = regexp.MustCompile(`\s(===|!==|==|!=|<=|>=|<|>|&&|\|\||\+=|-=|\*=|/=|\+|-|\*|//|/|%|and|or|not in|is not)\s`)
	tightOperatorRE  = regexp.MustCompile(`[\w)\]](===|!==|==|!=|<=|>=|<|>|\+=|-=|\*=|/=|\+|-|\*|/|%)[\w("'\[]`)
	// exponentRE matches the text before a + or - that belongs to a number: the 1e of 1e-9.
	exponentRE = regexp.MustCompile(`\d[eE]$`)
)

// operatorMutants maps operators to their mutants.
var operatorMutants = map[string][]change{
	"===": {{NegateCondition, "!=="}}, "!==": {{NegateCondition, "==="}}, "==": {{NegateCondition, "!="}}, "!=": {{NegateCondition, "=="}},
	"<": {{ShiftBoundary, "<="}, {NegateCondition, ">="}}, "<=": {{ShiftBoundary, "<"}, {NegateCondition, ">"}},
	">": {{ShiftBoundary, ">="}, {NegateCondition, "<="}}, ">=": {{ShiftBoundary, ">"}, {NegateCondition, "<"}},
	"not in": {{NegateCondition, "in"}}, "is not": {{NegateCondition, "is"}},
	"&&": {{SwapLogic, "||"}}, "||": {{SwapLogic, "&&"}}, "and": {{SwapLogic, "or"}}, "or": {{SwapLogic, "and"}},
	"+": {{ChangeArithmetic, "-"}}, "-": {{ChangeArithmetic, "+"}}, "*": {{ChangeArithmetic, "/"}}, "/": {{ChangeArithmetic, "*"}},
	"//": {{ChangeArithmetic, "/"}}, "%": {{ChangeArithmetic, "*"}},
	"+=": {{ChangeArithmetic, "-="}}, "-=": {{ChangeArithmetic, "+="}}, "*=": {{ChangeArithmetic, "/="}}, "/=": {{ChangeArithmetic, "*="}},
}

// mutateOperators adds a mutant for each operator of the line that can be swapped with another.
func (t *textFile) mutateOperators() {
	for _, re := range []*regexp.Regexp{spacedOperatorRE, tightOperatorRE} {
		t.eachMatch(re, 1, func(first, last int) {
			if op := t.line[first:last]; t.isSwappable(op, first, last, re == tightOperatorRE) {
				for _, c := range operatorMutants[op] {
					t.add(c.operator, first, last, c.text)
				}
			}
		})
	}
}

// eachMatch calls found with the bytes of a group in each match of the current line. The text
// after the group may belong to the next match.
func (t *textFile) eachMatch(re *regexp.Regexp, group int, found func(first, last int)) {
	for from := 0; from < len(t.line); {
		m := re.FindStringSubmatchIndex(t.line[from:])
		if m == nil {
			return
		}
		first, last := from+m[2*group], from+m[2*group+1]
		found(first, last)
		from = last
	}
}

// neutralOperandRE matches, by operator, a right operand that changes nothing: x + 0, x * 1. The
// opposite operator has the same result, so that no test could kill that mutant.
var neutralOperandRE = map[string]*regexp.Regexp{
	"+": regexp.MustCompile(`^\s*0($|[^\d.])`), "-": regexp.MustCompile(`^\s*0($|[^\d.])`),
	"*": regexp.MustCompile(`^\s*1($|[^\d.])`), "/": regexp.MustCompile(`^\s*1($|[^\d.])`),
}

// isSwappable reports whether the operator at the bytes first..last of the line is a binary
// operator that may be replaced. It excludes signs (return -x), joined strings ("a" + b), and
// brackets of generic types. closely means that there are no blanks around it.
func (t *textFile) isSwappable(op string, first, last int, closely bool) bool {
	before, after := strings.TrimRight(t.line[:first], " \t"), t.line[last:]
	operand := before != "" && (strings.IndexByte(`)]}'"`+"`", before[len(before)-1]) >= 0 || isWordByte(before[len(before)-1]))
	quoted := strings.ContainsAny(t.line, `'"`+"`")
	switch op {
	case "<", ">":
		return operand && (!closely || t.tightComparisons)
	case "and", "or", "not in", "is not":
		return t.wordOperators
	case "+", "+=", "%":
		if quoted { // the operator joins or formats strings
			return false
		}
	}
	if re := neutralOperandRE[op]; re != nil && re.MatchString(after) || exponentRE.MatchString(before) {
		return false
	}
	return operand && !keywordEndRE.MatchString(before)
}

// isWordByte reports whether a byte can end an operand such as a name or a number.
func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c == '?' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// These expressions find conditions in a masked line, which the first group captures:
//
//   - keywordEndRE matches the end of a text after which + and - are signs: return -1.
//   - ifLineRE matches a line that is the head of an if: "} else if ready {", "elif x:".
//   - trailingIfRE matches a condition after a statement, as in Ruby's "return 1 unless ready".
//   - ternaryRE matches the condition of Python's "a if ready else b".
//   - ifParenRE matches "if (", after which the condition starts.
//   - comparisonRE matches a single comparison, such as a <= b; "a == b && c" is not one.
var (
	keywordEndRE = regexp.MustCompile(`\b(return|case|else|in)$`)
	ifLineRE     = regexp.MustCompile(`^\s*(?:\}\s*)?(?:if|elif|elsif|else if|unless)\s+(.+?)\s*(?:\bthen)?[:{]?\s*$`)
	trailingIfRE = regexp.MustCompile(`\S\s+(?:if|unless)\s+([^#]+?)\s*$`)
	ternaryRE    = regexp.MustCompile(`\sif\s+(.+?)\s+else\s`)
	ifParenRE    = regexp.MustCompile(`\bif\s*\(`)
	comparisonRE = regexp.MustCompile(`^[^&|]*(==|!=|<=|>=|\s<\s|\s>\s|\bis not\b|\bnot in\b)[^&|]*$`)
)

// mutateCondition adds the mutant with the opposite of the line's condition. A single comparison
// has none here, since mutateOperators negates its operator.
func (t *textFile) mutateCondition() {
	from, to := t.findCondition()
	cond := t.line[from:to]
	if cond == "" || strings.HasPrefix(cond, "let ") || !isBalanced(cond) ||
		comparisonRE.MatchString(cond) && !strings.Contains(cond, " and ") && !strings.Contains(cond, " or ") {
		return
	}
	condition := string(t.src[t.offsets[t.lineNo]+from : t.offsets[t.lineNo]+to])
	if t.wordOperators {
		t.add(NegateCondition, from, to, "not ("+condition+")")
		return
	}
	t.add(NegateCondition, from, to, "!("+condition+")")
}

// findCondition returns the bytes from..to of the condition in the line, 0, 0 if there is none.
func (t *textFile) findCondition() (from, to int) {
	if t.parens {
		loc := ifParenRE.FindStringIndex(t.line)
		if loc == nil {
			return 0, 0
		}
		if n := closingParen(t.line[loc[1]-1:]); n > 0 {
			return loc[1], loc[1] - 1 + n
		}
		return 0, 0
	}
	list := []*regexp.Regexp{ifLineRE}
	if t.wordOperators {
		list = append(list, ternaryRE)
	} else if t.lang == source.Ruby {
		list = append(list, trailingIfRE)
	}
	for _, re := range list {
		if m := re.FindStringSubmatchIndex(t.line); m != nil {
			return m[2], m[3]
		}
	}
	return 0, 0
}

// closingParen returns the index of the parenthesis that closes the first one, 0 if none does.
func closingParen(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// isBalanced reports whether a text has as many opening as closing brackets of each kind.
func isBalanced(text string) bool {
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(text, pair[:1]) != strings.Count(text, pair[1:]) {
			return false
		}
	}
	return true
}

// numberRE matches a number: its second group is the integer that is changed, 10 of "= 10L;" or
// 2 of "(2.5)". The other groups keep it from matching a part of a name or version, as in x1.
// booleanRE matches a boolean constant in its second group, but no key as in {true: 1}.
var (
	numberRE  = regexp.MustCompile(`(^|[^\w.$#])(\d+)((?:\.\d+)?(?:[lLfFdDuUmMn]|[iu](?:8|16|32|64|128|size)|f32|f64)?)($|[^\w.]|\.\D|\.$)`)
	booleanRE = regexp.MustCompile(`(^|[^\w.$])(true|false|True|False)($|[^\w:=])`)
)

var oppositeBoolean = map[string]string{"true": "false", "false": "true", "True": "False", "False": "True"}

// mutateConstants adds mutants with another constant: a number plus one, the opposite boolean, or
// a longer string. The texts of exceptions are not changed, since tests rarely check them.
func (t *textFile) mutateConstants(code string) {
	if throwRE.MatchString(code) {
		return
	}

	t.eachMatch(numberRE, 2, func(first, last int) {
		v, err := strconv.ParseInt(t.line[first:last], 10, 63)
		isDecimal := last-first == 1 || t.line[first] != '0'
		if err == nil && isDecimal {
			t.add(ChangeConstant, first, last, strconv.FormatInt(v+1, 10))
		}
	})
	t.eachMatch(booleanRE, 2, func(first, last int) {
		t.add(ChangeConstant, first, last, oppositeBoolean[t.line[first:last]])
	})
	t.mutateTexts()
}

// mutateTexts adds a mutant for each string of the line, which inserts XX at its start. Masked
// strings are blank, so a quote with other text after it is no string.
func (t *textFile) mutateTexts() {
	quotes := `"`
	if t.singleQuotes {
		quotes = `"'`
	}
	for from := 0; from < len(t.line); {
		first := strings.IndexAny(t.line[from:], quotes)
		if first < 0 {
			return
		}
		first += from
		quote := t.line[first]
		length := strings.IndexByte(t.line[first+1:], quote)
		if length < 0 || length == 0 && first+2 < len(t.line) && t.line[first+2] == quote {
			return
		}
		if strings.TrimSpace(t.line[first+1:first+1+length]) == "" {
			t.add(ChangeConstant, first+1, first+1, "XX")
		}
		from = first + length + 2
	}
}
