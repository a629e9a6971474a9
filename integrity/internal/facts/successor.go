package facts

import (
	"slices"

	"supervise/internal/regexp"
	"supervise/source"
)

// becameHelper reports whether the body of a lost test is now a function that something calls.
func (t *Test) becameHelper() bool {
	_, called := FindSuccessor(t)
	return called
}

// minSuccessorSimilarity is the similarity of words from which on a function has the body of
// a lost test.
const minSuccessorSimilarity = .75

// FindSuccessor returns the function of the same file that has the body of a lost test, and
// whether anything calls it. Its Line is 0 if there is none.
func FindSuccessor(t *Test) (fn source.Function, called bool) {
	after := t.File.After()
	if !after.Exists() || after.Language() != t.Side.Language() {
		return fn, false
	}
	words := CountWords(t.Side.LinesWithoutComments(t.Line, t.End))
	if len(words) == 0 {
		return fn, false
	}

	oldFunctions := t.File.Before().Inspection().Functions
	for _, fn := range HelperFunctions(after) {
		isOld := slices.ContainsFunc(oldFunctions, func(old source.Function) bool { return old.Name == fn.Name })
		if isOld && LastName(fn.Name) != LastName(t.Name) {
			continue
		}
		body := CountWords(after.LinesWithoutComments(fn.Line, fn.End))
		if source.Similarity(source.TestDef{Tokens: words}, source.TestDef{Tokens: body}) >= minSuccessorSimilarity {
			return fn, isCalledOutside(after, fn)
		}
	}
	return fn, false
}

// HelperFunctions returns the functions of a file that are not tests.
func HelperFunctions(s *Side) []source.Function {
	return Filter(s.Inspection().Functions, func(fn source.Function) bool {
		isInTest := slices.ContainsFunc(s.Inspection().Tests, func(t source.TestDef) bool { return t.Line <= fn.Line && fn.End <= t.End })
		return fn.Name != "(file)" && !isInTest
	})
}

// isCalledOutside reports whether the file contains the name of a function outside of the function
// itself.
func isCalledOutside(s *Side, fn source.Function) bool {
	name := LastName(fn.Name)
	if name == "" {
		return false
	}
	use := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(use.FindAllIndex(s.WithoutStrings(), -1), func(span []int) bool {
		n := s.LineNumber(span[0])
		return n < fn.Line || n > fn.End
	})
}
