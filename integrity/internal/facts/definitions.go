package facts

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	// modifiersExpr matches the beginning of a line up to a definition: blanks, modifiers, and the
	// receiver of a method.
	modifiersExpr = `^\s*(?:(?:export|default|public|protected|private|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|const|unsafe|open|override|sealed|data|inline|virtual|func \([^)]*\))\s+)*`
	// keywordExpr matches a word that defines, and the name: "class Shop" and "def self.total".
	keywordExpr = `(?:func|def|fn|fun|function\*?|class|struct|enum|trait|interface|type|module|record|object|macro_rules!|var|let|const|static|val|defmodule|defp?|defmacro)\s+(?:self\.)?([A-Za-z_$][\w$?!]*)`
	// assignmentExpr matches a function that is given a name: "total = function", "total: (…) =>".
	assignmentExpr = `([A-Za-z_$][\w$]*)\s*(?:=|:)\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>)`
	// parametersExpr matches a name before parameters, perhaps after a type: "int total(".
	parametersExpr = `(?:[\w<>\[\],.?]+\s+)?([A-Za-z_$][\w$]*)\s*\(`
)

// The expressions are tried at each line. They are those of the standard package, because a search
// for the texts that a match needs, in the remaining text, would take longer than the match.
var (
	definitionRE      = compileLater(modifiersExpr + `(?:` + keywordExpr + `|` + assignmentExpr + `|` + parametersExpr + `)`)
	namedDefinitionRE = compileLater(modifiersExpr + `(?:` + keywordExpr + `|` + assignmentExpr + `)`)
	// bodyStartRE matches the end of parameters with a body after them: ") {".
	bodyStartRE = compileLater(`\)\s*(?:throws [\w, .]+)?\{`)
)

// compileLater returns a function that compiles an expression at its first call.
func compileLater(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// definitions returns the names that product code defines at the beginning of lines: functions and
// methods, types, and constants of a module.
//
// It finds the same as the regular expression in its test. In a text without semicolons, that
// expression looks for the brace of a function up to the end of the text, again at each call.
func definitions(text []byte) []string {
	src := string(text)
	bodies := bodyStartRE().FindAllStringIndex(src, -1)
	semicolon := -1 // the first one after the last name before parameters

	// bodyAfter returns the end of the last bodyStartRE between an offset and the next semicolon, -1
	// if there is none.
	bodyAfter := func(from int) int {
		if semicolon < from {
			before, _, _ := strings.Cut(src[from:], ";")
			semicolon = from + len(before)
		}
		next, _ := slices.BinarySearchFunc(bodies, semicolon, func(body []int, pos int) int { return body[0] - pos })
		if next == 0 || bodies[next-1][0] < from {
			return -1
		}
		return bodies[next-1][1]
	}

	var out []string
	for line := 0; line < len(src); {
		end := line + 1
		m := definitionRE().FindStringSubmatchIndex(src[line:])
		if m != nil && m[6] >= 0 { // a name before parameters
			if body := bodyAfter(line + m[1]); body >= 0 {
				out, end, m = append(out, src[line+m[6]:line+m[7]]), body, nil
			} else {
				m = namedDefinitionRE().FindStringSubmatchIndex(src[line:])
			}
		}
		if m != nil {
			name := max(m[2], m[4])
			out, end = append(out, src[line+name:line+max(m[3], m[5])]), line+m[1]
		}
		next := strings.IndexByte(src[end-1:], '\n') // the line may end with what was read
		if next < 0 {
			break
		}
		line = end + next
	}
	return out
}
