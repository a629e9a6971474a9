package tests

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TestKind is how a test runner treats a test definition.
type TestKind uint8

// The kinds of test definitions.
const (
	Test      TestKind = iota // a test that always runs
	Subtest                   // a part of another test, with its own name
	Benchmark                 // runs only on demand, so test reports do not name it
	Fuzz                      // runs its seeds as a test
	Example                   // its output is compared
)

// TestDef is the definition of a test in a source file. The facts about a test include those of
// its subtests, which also have their own TestDef.
type TestDef struct {
	// Name is the test's name as the runner prints it: TestX, and TestX/a_b for
	// a subtest with the literal name "a b". Subtests whose name is computed,
	// such as the rows of a table, are part of the test around them. A method
	// of a testify suite is TestRunner/TestMethod when the function that runs
	// the suite is in the same file, else SuiteType/TestMethod. In other
	// languages it is the name of the function or method, or the title after
	// those of all groups around it: "calc adds".
	Name string
	// Class is the innermost class or module of a method, or the titles of the groups around a
	// title. It is "" if there is none, and in Go.
	Class string
	// Kind says how the runner treats it.
	Kind TestKind
	// Untitled reports whether the test has no title. Its name is then made from its body.
	Untitled bool
	// Line and End are the first and last line, from 1.
	Line, End int
	// Tokens counts the words, the literals and the comparing or logical operators of the body,
	// without comments. Similarity compares them.
	Tokens map[string]int
	// Assertions are the failures that a test can report, in order, with single spaces. In Go
	// each is a call, or for t.Error and similar methods the condition under which it is reached:
	// "got != want => t.Error". In other languages they are the statements with a word that
	// asserts, such as assert, expect or raises.
	Assertions []string
	// Literals are the distinct literals of the body as written, in order.
	Literals []string
	// Skipped reports whether the test always skips itself: the skip is a statement of the body
	// itself or is under a condition that is always true, or the file is built only with the tag
	// "ignore". A skip in a subtest belongs to the subtest, and a skip in a helper is not seen.
	// It is set only in Go.
	Skipped bool
	// SkipConditional reports whether the test is skipped, or not built, under a condition on the
	// platform, the version, a missing tool or the short mode.
	SkipConditional bool
	// SkipConditions are the conditions of all other skips, as written, in order. They include
	// conditions on other things, such as os.Getenv("CI").
	SkipConditions []string
	// Symbols are the sorted names from outside the test file that the body uses: "Open" of the
	// same package, "loop.Open" of an imported one, and "Close" for a method or field. In other
	// languages they are the names that are called or selected, including those of the file.
	Symbols []string
}

// Similarity returns how much of their bodies two tests have in common: the
// Jaccard index of the multisets of their tokens, from 0 for nothing to 1 for
// all. Two empty bodies have nothing in common.
func Similarity(a, b TestDef) float64 {
	common, total := 0, 0
	for token, n := range a.Tokens {
		m := b.Tokens[token]
		common += min(n, m)
		total += max(n, m)
	}
	for token, n := range b.Tokens {
		if _, inBoth := a.Tokens[token]; !inBoth {
			total += n
		}
	}
	if total == 0 {
		return 0
	}
	return float64(common) / float64(total)
}

// StartsWithAny reports whether a name starts with one of the words in lower or upper case,
// not followed by a lower-case letter.
func StartsWithAny(name string, words []string) bool {
	lower := strings.ToLower(name)
	for _, word := range words {
		if strings.HasPrefix(lower, word) && len(word) <= len(name) {
			next, _ := utf8.DecodeRuneInString(name[len(word):])
			return len(name) == len(word) || !unicode.IsLower(next)
		}
	}
	return false
}

// SortedKeys returns the sorted keys whose value is true.
func SortedKeys(set map[string]bool) []string {
	var list []string
	for s, in := range set {
		if in {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}

// MaxDepth limits how deep nested subtests are listed.
const MaxDepth = 20
