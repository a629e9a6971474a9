package mutation

import (
	"bytes"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// sabotaged are the operators of [Sabotage] in order of preference: those whose faults build most
// often and change a result most often come first.
var sabotaged = []Operator{ChangeReturn, NegateCondition, ChangeArithmetic, ChangeConstant, SwapLogic, DropStatement}

// endlessRE matches lines in which a fault may make a loop endless, or that often do not build with one.
var endlessRE = regexp.MustCompile(`^\s*\}?\s*(for|foreach|while|until|do|loop|case)\b|[-+*/]=|\+\+|--`)

// cSyntax is the syntax of C and C++, which are only sabotaged: too many of their mutants do not build.
var cSyntax = syntax{emptyStatement: ";", semicolons: true, tightComparisons: true, parens: true}

// Sabotage returns the text of a source file with one fault in every line that can have one, and the
// number of faults. Tests that pass with it do not depend on what the file does.
func Sabotage(path string, src []byte) (text []byte, faults int) {
	list := MutantsOf(path, src)
	if lang := source.DetectLanguage(path, nil); lang == source.C || lang == source.CPP {
		list = slices.DeleteFunc(cSyntax.mutants(lang, src), func(m Mutant) bool { return string(src[m.start:m.end]) == "*" }) // it may be a pointer
	}
	slices.SortStableFunc(list, func(a, b Mutant) int {
		return slices.Index(sabotaged, a.Operator) - slices.Index(sabotaged, b.Operator)
	})
	taken := map[int]bool{} // starts of lines
	list = slices.DeleteFunc(list, func(m Mutant) bool {
		first := 1 + bytes.LastIndexByte(src[:m.start], '\n')
		line, _, _ := strings.Cut(string(src[first:]), "\n")
		if taken[first] || !slices.Contains(sabotaged, m.Operator) || bytes.Contains(src[m.start:m.end], []byte("\n")) || endlessRE.MatchString(line) {
			return true
		}
		taken[first] = true
		return false
	})
	slices.SortFunc(list, func(a, b Mutant) int { return b.start - a.start })
	text = src
	for _, m := range list {
		text = m.ApplyTo(text)
	}
	return text, len(list)
}
