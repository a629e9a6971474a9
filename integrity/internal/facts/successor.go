package facts

import (
	"slices"

	"supervise/internal/regexp"
	"supervise/source"
)

// becameHelper reports whether the body of a lost test is now a function that is called.
func (t *Test) becameHelper() bool {
	_, called := FindSuccessor(t)
	return called
}

// minSuccessorSimilarity is the share of words that a function must have in common with a lost test to
// have its body.
const minSuccessorSimilarity = .75

// FindSuccessor returns the function of the same file that has the body of a lost test,
// and whether anything calls it. Its Line is 0 if there is none.
func FindSuccessor(t *Test) (fn source.Function, called bool) {
	after := t.File.After()
	if !after.Exists() || after.Language() != t.Side.Language() {
		return fn, false
	}
	was := t.words()
	if len(was) == 0 {
		return fn, false
	}
	before := t.File.Before().Inspection().Functions
	for _, fn := range HelperFunctions(after) {
		if containsFunction(before, fn.Name) && LastName(fn.Name) != LastName(t.Name) {
			continue
		}
		if jaccard(was, CountWords(after.LinesWithoutComments(fn.Line, fn.End))) >= minSuccessorSimilarity {
			return fn, isCalledElsewhere(after, fn)
		}
	}
	return fn, false
}

// HelperFunctions are the functions of a file that are not tests.
func HelperFunctions(s *Side) []source.Function {
	var out []source.Function
	inspection := s.Inspection()
	for _, fn := range inspection.Functions {
		isTest := fn.Name == "(file)" || slices.ContainsFunc(inspection.Tests, func(t source.TestDef) bool {
			return t.Line <= fn.Line && fn.End <= t.End
		})
		if !isTest {
			out = append(out, fn)
		}
	}
	return out
}

func containsFunction(list []source.Function, name string) bool {
	return slices.ContainsFunc(list, func(f source.Function) bool { return f.Name == name })
}

// isCalledElsewhere reports whether a function is named anywhere else in the file.
func isCalledElsewhere(s *Side, fn source.Function) bool {
	name := LastName(fn.Name)
	if name == "" {
		return false
	}
	at := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	for _, m := range at.FindAllIndex(s.WithoutStrings(), -1) {
		if n := s.LineNumber(m[0]); n < fn.Line || n > fn.End {
			return true
		}
	}
	return false
}

// words are those of the definition of the test, without comments.
func (t *Test) words() map[string]int { return CountWords(t.Side.LinesWithoutComments(t.Line, t.End)) }

func jaccard(a, b map[string]int) float64 {
	return source.Similarity(source.TestDef{Tokens: a}, source.TestDef{Tokens: b})
}
