package mutation

import (
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// syntax is what the mutants of a language need to know of it.
type syntax struct {
	pass       string // instead of a statement that is left out
	none       string // instead of a result; "": by the type of the function, if at all
	semicolons bool   // every statement ends with one
	indented   bool   // blocks are, and no statement is within brackets
	words      bool   // and, or, not
	single     bool   // texts in single quotes
	tight      bool   // < and > without blanks around compare, for there are no generic types
	parens     bool   // conditions are in parentheses
	throws     bool   // a throw may be left out: the program is valid without
}

// syntaxes are the languages beside Go.
var syntaxes = map[source.Language]syntax{
	source.Python:     {pass: "pass", none: "None", indented: true, words: true, single: true, tight: true, throws: true},
	source.JavaScript: {pass: ";", none: "undefined", single: true, tight: true, parens: true, throws: true},
	source.TypeScript: {pass: ";", none: "undefined as any", single: true, parens: true, throws: true},
	source.PHP:        {pass: ";", none: "null", semicolons: true, single: true, tight: true, parens: true, throws: true},
	source.Ruby:       {pass: "nil", none: "nil", single: true, tight: true, throws: true},
	source.Java:       {pass: ";", semicolons: true, parens: true},
	source.CSharp:     {pass: ";", semicolons: true, parens: true},
	source.Kotlin:     {pass: "Unit", parens: true},
	source.Rust:       {pass: ";", semicolons: true},
}

// textFile is a file whose mutants are collected line by line.
type textFile struct {
	syntax
	lang  source.Language
	src   []byte
	lines []string // masked, without their ends
	at    []int    // where each begins, in bytes
	types map[int]string
	out   []Mutant

	no   int    // the line under way
	line string // masked
}

func (s syntax) of(lang source.Language, src []byte) []Mutant {
	t := &textFile{syntax: s, lang: lang, src: src}
	at := 0
	for line := range strings.Lines(string(source.Mask(lang, src))) {
		t.lines, t.at = append(t.lines, strings.TrimRight(line, "\r\n")), append(t.at, at)
		at += len(line)
	}
	t.resultTypes()
	depth := 0
	for t.no, t.line = range t.lines {
		code := strings.TrimSpace(t.line)
		if open := depth; t.read(code) {
			t.conditions()
			t.operators()
			t.constants(code)
			if t.alone(code, open) {
				t.statement(code)
			}
		}
		depth = max(0, depth+strings.Count(t.line, "(")+strings.Count(t.line, "[")+strings.Count(t.line, "{")-
			strings.Count(t.line, ")")-strings.Count(t.line, "]")-strings.Count(t.line, "}"))
	}
	return t.out
}

// declares matches lines that say what is where, and no behaviour; spoken those that are
// about what people read.
var (
	declares = regexp.MustCompile(`^(import|from|package|using|use|require(_once|_relative)?|include|namespace|module|class|interface|trait|enum|struct|type|mod|impl|extern|annotation|@|#|export\s+(\*|\{|type|interface|class)|const\s+\{?[\w\s,]+\}?\s*=\s*require\b|__all__\b|__version__\b|'use|"use|"""|'''|if\s+__name__)`)
	spoken   = regexp.MustCompile(`(?i)^([\w$]+(\.|->|::))*(log|logger|logging|slog|logrus|console)(\.|->|::)|^((fmt|System\.out|std)\W+)?(print|println|printf|eprintln|puts|echo|eprint)!?\b|^fmt\.Print|^(fmt\.Errorf|errors\.(New|Wrap|Wrapf|Errorf)|panic|warnings\.warn|assert|debug_assert)\W`)
	raises   = regexp.MustCompile(`^(raise|throw)\b`)
)

// read reports whether anything of a line is changed.
func (t *textFile) read(code string) bool {
	return code != "" && !declares.MatchString(code) && !spoken.MatchString(code) && code[0] != '"' && code[0] != '\'' && len(code) < 400
}

// put adds a mutant of the line under way: another text from one of its bytes to
// another.
func (t *textFile) put(o Operator, from, to int, text string) {
	start := t.at[t.no]
	t.out = append(t.out, Mutant{Operator: o, from: start + from, to: start + to, put: text})
}

var (
	spaced = regexp.MustCompile(`\s(===|!==|==|!=|<=|>=|<|>|&&|\|\||\+=|-=|\*=|/=|\+|-|\*|//|/|%|and|or|not in|is not)\s`)
	tight  = regexp.MustCompile(`[\w)\]](===|!==|==|!=|<=|>=|<|>|\+=|-=|\*=|/=|\+|-|\*|/|%)[\w("'\[]`)
	// exponent is the end of a text in which + and - belong to a number.
	exponent = regexp.MustCompile(`\d[eE]$`)
)

// swaps maps operators to their mutants.
var swaps = map[string][]change{
	"===": {{NegateCondition, "!=="}}, "!==": {{NegateCondition, "==="}}, "==": {{NegateCondition, "!="}}, "!=": {{NegateCondition, "=="}},
	"<": {{ShiftBoundary, "<="}, {NegateCondition, ">="}}, "<=": {{ShiftBoundary, "<"}, {NegateCondition, ">"}},
	">": {{ShiftBoundary, ">="}, {NegateCondition, "<="}}, ">=": {{ShiftBoundary, ">"}, {NegateCondition, "<"}},
	"not in": {{NegateCondition, "in"}}, "is not": {{NegateCondition, "is"}},
	"&&": {{SwapLogic, "||"}}, "||": {{SwapLogic, "&&"}}, "and": {{SwapLogic, "or"}}, "or": {{SwapLogic, "and"}},
	"+": {{ChangeArithmetic, "-"}}, "-": {{ChangeArithmetic, "+"}}, "*": {{ChangeArithmetic, "/"}}, "/": {{ChangeArithmetic, "*"}},
	"//": {{ChangeArithmetic, "/"}}, "%": {{ChangeArithmetic, "*"}},
	"+=": {{ChangeArithmetic, "-="}}, "-=": {{ChangeArithmetic, "+="}}, "*=": {{ChangeArithmetic, "/="}}, "/=": {{ChangeArithmetic, "*="}},
}

// operators adds the mutants by another operator.
func (t *textFile) operators() {
	for _, re := range []*regexp.Regexp{spaced, tight} {
		for from := 0; ; {
			found := re.FindStringSubmatchIndex(t.line[from:])
			if found == nil {
				break
			}
			first, last := from+found[2], from+found[3]
			if op := t.line[first:last]; t.swappable(op, first, last, re == tight) {
				for _, c := range swaps[op] {
					t.put(c.operator, first, last, c.text)
				}
			}
			from = last
		}
	}
}

// neutral matches what follows an operator that changes nothing.
var neutral = map[string]*regexp.Regexp{
	"+": regexp.MustCompile(`^\s*0($|[^\d.])`), "-": regexp.MustCompile(`^\s*0($|[^\d.])`),
	"*": regexp.MustCompile(`^\s*1($|[^\d.])`), "/": regexp.MustCompile(`^\s*1($|[^\d.])`),
}

// swappable reports whether the operator at a place is one.
func (t *textFile) swappable(op string, first, last int, closely bool) bool {
	before, after := strings.TrimRight(t.line[:first], " \t"), t.line[last:]
	operand := before != "" && (strings.IndexByte(`)]}'"`+"`", before[len(before)-1]) >= 0 || wordByte(before[len(before)-1]))
	quoted := strings.ContainsAny(t.line, `'"`+"`")
	switch op {
	case "<", ">":
		return operand && (!closely || t.tight)
	case "and", "or", "not in", "is not":
		return t.words
	case "+", "+=", "%":
		if quoted { // texts are joined, or filled in
			return false
		}
	}
	if re := neutral[op]; re != nil && re.MatchString(after) || exponent.MatchString(before) {
		return false
	}
	return operand && !returns.MatchString(before)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '?' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

var (
	returns    = regexp.MustCompile(`\b(return|case|else|in)$`)
	plainIf    = regexp.MustCompile(`^\s*(?:\}\s*)?(?:if|elif|elsif|else if|unless)\s+(.+?)\s*(?:\bthen)?[:{]?\s*$`)
	trailingIf = regexp.MustCompile(`\S\s+(?:if|unless)\s+([^#]+?)\s*$`)
	choice     = regexp.MustCompile(`\sif\s+(.+?)\s+else\s`)
	ifParen    = regexp.MustCompile(`\bif\s*\(`)
	compares   = regexp.MustCompile(`^[^&|]*(==|!=|<=|>=|\s<\s|\s>\s|\bis not\b|\bnot in\b)[^&|]*$`)
)

// conditions adds the mutants with the opposite of a condition that is no comparison:
// those have mutants of their own.
func (t *textFile) conditions() {
	from, to := t.condition()
	cond := t.line[from:to]
	if cond == "" || strings.HasPrefix(cond, "let ") || !balanced(cond) ||
		compares.MatchString(cond) && !strings.Contains(cond, " and ") && !strings.Contains(cond, " or ") {
		return
	}
	was := string(t.src[t.at[t.no]+from : t.at[t.no]+to])
	if t.words {
		t.put(NegateCondition, from, to, "not ("+was+")")
		return
	}
	t.put(NegateCondition, from, to, "!("+was+")")
}

// condition is the place of a condition in the line, empty where there is none.
func (t *textFile) condition() (from, to int) {
	if t.parens {
		at := ifParen.FindStringIndex(t.line)
		if at == nil {
			return 0, 0
		}
		if n := closing(t.line[at[1]-1:]); n > 0 {
			return at[1], at[1] - 1 + n
		}
		return 0, 0
	}
	list := []*regexp.Regexp{plainIf}
	if t.words {
		list = append(list, choice)
	} else if t.lang == source.Ruby {
		list = append(list, trailingIf)
	}
	for _, re := range list {
		if m := re.FindStringSubmatchIndex(t.line); m != nil {
			return m[2], m[3]
		}
	}
	return 0, 0
}

// closing is the place of the parenthesis that closes the first one, 0 for none.
func closing(text string) int {
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

func balanced(text string) bool {
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(text, pair[:1]) != strings.Count(text, pair[1:]) {
			return false
		}
	}
	return true
}

var (
	number  = regexp.MustCompile(`(^|[^\w.$#])(\d+)((?:\.\d+)?(?:[lLfFdDuUmMn]|[iu](?:8|16|32|64|128|size)|f32|f64)?)($|[^\w.]|\.\D|\.$)`)
	boolean = regexp.MustCompile(`(^|[^\w.$])(true|false|True|False)($|[^\w:=])`)
)

var otherBoolean = map[string]string{"true": "false", "false": "true", "True": "False", "False": "True"}

// constants adds the mutants by another constant.
func (t *textFile) constants(code string) {
	if raises.MatchString(code) {
		return
	}
	for from := 0; from < len(t.line); {
		m := number.FindStringSubmatchIndex(t.line[from:])
		if m == nil {
			break
		}
		first, last := from+m[4], from+m[5]
		if v, err := strconv.ParseInt(t.line[first:last], 10, 63); err == nil && (last-first == 1 || t.line[first] != '0') {
			t.put(ChangeConstant, first, last, strconv.FormatInt(v+1, 10))
		}
		from += m[7]
	}
	for from := 0; from < len(t.line); {
		m := boolean.FindStringSubmatchIndex(t.line[from:])
		if m == nil {
			break
		}
		t.put(ChangeConstant, from+m[4], from+m[5], otherBoolean[t.line[from+m[4]:from+m[5]]])
		from += m[5]
	}
	t.texts()
}

// texts adds the mutants by a longer text.
func (t *textFile) texts() {
	quotes := `"`
	if t.single {
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
			t.put(ChangeConstant, first+1, first+1, "XX")
		}
		from = first + length + 2
	}
}
