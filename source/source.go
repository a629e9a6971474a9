// Package source reads the text of source files: their language, where code,
// comments and strings are, how many lines of code and which functions they
// have and how complex those are, and the tests they define. It looks
// at bytes and paths alone and does no input or output.
//
// Go is read by its own parser. Every other language is read by one scanner
// that masks comments and the bodies of strings and looks for functions and
// decision points in what remains. That scanner is no parser: it is right on
// code that is formatted as usual, and it always comes to an end, whatever the
// bytes. Its known limits:
//
//   - Text between the tags of JSX, and text around the code of templates other
//     than PHP, is read as code. The damage of a stray quote ends with its line.
//   - Branches of the C preprocessor are all read, as if none excluded another.
//   - The ?: operator counts when it is written between blanks.
//   - Definitions that macros make are not seen.
//   - Tests with a computed title are not seen, nor is what skips a test.
package source

import (
	"bytes"
	"fmt"
	"sync"
)

// File is what the text of a source file tells.
type File struct {
	// Language is Unknown for what is not source; then nothing else is set.
	Language Language
	// LOC counts the lines with code: not blank, not only comment. Text within
	// strings is code, but a Python docstring is a comment.
	LOC int
	// Functions are those with a body, in the order of the file. A file of
	// another language than Go that has code but no function stands as one
	// function named "(file)".
	Functions []Function
	// Tests are the test definitions, in the order of the file: of Go, Python,
	// JavaScript, TypeScript, Java, Kotlin, Rust, Ruby, PHP, C# and Swift.
	Tests []TestDef
}

// Scan reads a source file. path tells its language and, in Go, whether it
// holds tests; it is slash separated and need not exist. A Go file that does not
// parse gives the syntax error together with what the scanner for the other
// languages finds in it; there is no other error.
func Scan(path string, src []byte) (File, error) {
	lang := LanguageOf(path, src)
	if lang == Unknown {
		return File{}, nil
	}
	r := newReading(lang, src)
	defer r.close()
	return scan(path, r)
}

// reading is what was made of a text so far: each step once, and only where it is
// needed. What it returns, but for texts, is not to be used after its close.
type reading struct {
	lang  Language
	src   []byte
	kinds []kind
	split *tokens
	bare  []byte
	lists *lists
}

// lists are what a reading fills and nothing that is said of a file refers to. They
// are most of what reading allocates, so the next reading uses them again.
type lists struct {
	kinds []kind
	list  []lexeme
	first []int
	in    []bool
	up    []int
}

var spare = sync.Pool{New: func() any { return new(lists) }}

func newReading(lang Language, src []byte) *reading {
	r := &reading{lang: lang, src: src, lists: spare.Get().(*lists)}
	r.lists.kinds = classifyInto(r.lists.kinds, lang, src)
	r.kinds = r.lists.kinds
	return r
}

func (r *reading) close() {
	if r.split != nil {
		r.lists.list, r.lists.first, r.lists.in = r.split.list, r.split.first, r.split.inText
	}
	spare.Put(r.lists)
	r.lists, r.split, r.kinds = nil, nil, nil
}

// tokens returns the code in tokens.
func (r *reading) tokens() *tokens {
	if r.split == nil {
		r.split = tokenize(r.lang, r.src, r.kinds, r.lists)
	}
	return r.split
}

// tokensFor returns the code in tokens, but for Go code that is no test and drops no
// failure: its functions are read by Go's own parser, and nobody asks for more.
func (r *reading) tokensFor(inTest bool) *tokens {
	if r.lang == Go && !inTest && r.split == nil {
		if masked := mask(r.src, r.kinds); !swallowing[Go].Match(masked) {
			return &tokens{lang: Go, src: r.src, masked: masked}
		}
	}
	return r.tokens()
}

// plain returns the text without its comments.
func (r *reading) plain() []byte {
	if r.bare == nil {
		r.bare = strip(r.src, r.kinds)
	}
	return r.bare
}

// strip blanks the comments.
func strip(src []byte, kinds []kind) []byte {
	plain := bytes.Clone(src)
	for i, k := range kinds {
		if k == comment && src[i] != '\n' && src[i] != '\r' {
			plain[i] = ' '
		}
	}
	return plain
}

func scan(path string, r *reading) (File, error) {
	file := File{Language: r.lang, LOC: countLines(r.src, r.kinds)}
	if r.lang == Go {
		err := scanGo(path, r.src, &file)
		if err == nil {
			return file, nil
		}
		file.Functions, file.Tests = functions(r.tokens()), nil
		return file, fmt.Errorf("parse go source: %w", err)
	}
	t := r.tokens()
	file.Functions = functions(t)
	t.budget = blockBudget * len(t.list)
	file.Tests = findTests(path, r)
	return file, nil
}

// Mask returns a copy of src in which comments, with their delimiters, and the
// bodies of strings, regular expressions and here-documents, without their
// delimiters, are spaces. The copy is as long as src and has its line breaks at
// the same places. Code within strings, such as ${x} in JavaScript, stays.
// Nothing of an Unknown language is masked.
func Mask(lang Language, src []byte) []byte {
	return mask(src, classify(lang, src))
}

func mask(src []byte, kinds []kind) []byte {
	masked := make([]byte, len(src))
	for i, c := range src {
		if kinds[i] != code && c != '\n' && c != '\r' {
			c = ' '
		}
		masked[i] = c
	}
	return masked
}

// countLines counts the lines that hold a byte of code or text that is no
// white space.
func countLines(src []byte, kinds []kind) int {
	n := 0
	counted := false
	for i, c := range src {
		switch {
		case c == '\n':
			counted = false
		case !counted && kinds[i] != comment && !isSpace(c):
			counted = true
			n++
		}
	}
	return n
}

// TestKind says how the runner treats a test definition.
type TestKind uint8

// The kinds of test definitions.
const (
	Test      TestKind = iota // a test that always runs
	Subtest                   // a part of another test, with a name of its own
	Benchmark                 // runs only on demand, so test reports do not name it
	Fuzz                      // runs its seeds as a test
	Example                   // its output is compared
)

// String returns the lower-case name of the kind.
func (k TestKind) String() string {
	switch k {
	case Test:
		return "test"
	case Subtest:
		return "subtest"
	case Benchmark:
		return "benchmark"
	case Fuzz:
		return "fuzz"
	case Example:
		return "example"
	}
	return fmt.Sprintf("testkind(%d)", uint8(k))
}

// MarshalText returns the same name as String; it never fails.
func (k TestKind) MarshalText() ([]byte, error) {
	return []byte(k.String()), nil
}

// UnmarshalText reads what MarshalText writes. Another name is an error.
func (k *TestKind) UnmarshalText(text []byte) error {
	for kind := Test; kind <= Example; kind++ {
		if kind.String() == string(text) {
			*k = kind
			return nil
		}
	}
	return fmt.Errorf("unknown kind of test %q", text)
}

// TestDef is the definition of a test in a source file. What is said of a test
// includes its subtests, which are listed once more for themselves.
type TestDef struct {
	// Name is the test's name as the runner prints it: TestX, and TestX/a_b for
	// a subtest with the literal name "a b". Subtests whose name is computed,
	// such as the rows of a table, are part of the test around them. A method
	// of a testify suite is TestRunner/TestMethod when the function that runs
	// the suite is in the same file, else SuiteType/TestMethod. In other
	// languages it is the name of the function or method, or the title behind
	// those of all groups around it: "calc adds".
	Name string
	// Class is what stands around the test, "" for nothing and in Go: the
	// innermost class or module of a method, the titles of the groups of a title.
	Class string
	// Kind says how the runner treats it.
	Kind TestKind
	// Line and End are the first and last line, from 1.
	Line, End int
	// Tokens counts the words, literals and comparing or logical operators of
	// the body, without comments: what Similarity compares.
	Tokens map[string]int
	// Assertions are the failures a test can report, in order, with white space
	// made single: the call, or for t.Error and its like the condition under
	// which it is reached, "got != want => t.Error". In other languages they are
	// the statements with a word that asserts, such as assert, expect or raises.
	Assertions []string
	// Literals are the distinct literals of the body as written, in order.
	Literals []string
	// Skipped says that the test skips itself in any case: the skip is a
	// statement of the body itself, or stands under a condition that is always
	// true, or the file is built under the tag "ignore" only. A skip in a
	// subtest is the subtest's, and one in a helper is not seen. Skips are read
	// in Go alone.
	Skipped bool
	// SkipConditional says that the test is skipped, or not built, under a
	// condition on platform, version, a missing tool or short mode.
	SkipConditional bool
	// SkipConditions are the conditions of all skips that are not Skipped, as
	// written, in order: also those on other things, such as os.Getenv("CI").
	SkipConditions []string
	// Symbols are the names from outside the test file that the body uses,
	// sorted: "Open" of the same package, "loop.Open" of an imported one, and of
	// methods and fields the last name, "Close". In other languages they are the
	// names that are called or selected, those of the file included.
	Symbols []string
}

// Similarity returns how much of their bodies two tests have in common: the
// Jaccard index of the multisets of their tokens, from 0 for nothing to 1 for
// all. Two empty bodies have nothing in common.
func Similarity(a, b TestDef) float64 {
	common, all := 0, 0
	for token, n := range a.Tokens {
		m := b.Tokens[token]
		common += min(n, m)
		all += max(n, m)
	}
	for token, n := range b.Tokens {
		if _, both := a.Tokens[token]; !both {
			all += n
		}
	}
	if all == 0 {
		return 0
	}
	return float64(common) / float64(all)
}
