package source

import (
	"bytes"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/lex"
)

// InlineTests is a module of tests in the file of the code that it tests, as Rust
// has them: #[cfg(test)] mod tests { … }.
type InlineTests struct {
	Name      string // with the modules around it, "calc::tests"
	From, To  int    // where it is, with its attributes, in bytes
	First     int    // line that it begins in, from 1
	Last      int    // line that it ends in
	OtherFile bool   // it is declared alone (mod tests;), and is in its own file
}

// ContainsLine reports whether line n, from 1, is in the module.
func (t InlineTests) ContainsLine(n int) bool { return t.First <= n && n <= t.Last }

// module matches a Rust module with its attributes; forTests matches an attribute
// that has it built for tests.
var (
	module   = regexp.MustCompile(`((?:#\[[^\]]*\]\s*)*)(?:pub(?:\s*\([^)]*\))?\s+)?\bmod\s+(\w+)\s*([{;])`)
	forTests = regexp.MustCompile(`\bcfg\s*\([^\]]*\btest\b`)
	forOther = regexp.MustCompile(`\bnot\s*\(\s*test\b`)
)

// FindInlineTests returns the modules of tests in a file, in order; those within one
// of them are part of it. Languages other than Rust have none.
func FindInlineTests(path string, src []byte) []InlineTests {
	if DetectLanguage(path, src) != Rust || !bytes.Contains(src, []byte("cfg")) {
		return nil
	}
	masked := lex.Mask(src, lex.Classify(Rust, src))
	var out []InlineTests
	var around []rustModule
	end := 0
	for _, m := range module.FindAllSubmatchIndex(masked, -1) {
		for len(around) > 0 && around[len(around)-1].end <= m[0] {
			around = around[:len(around)-1]
		}
		name, body := string(masked[m[4]:m[5]]), masked[m[6]] == '{'
		to := m[1]
		if body {
			to = braceEnd(masked, m[6])
		}
		if attributes := masked[m[2]:m[3]]; m[0] >= end && forTests.Match(attributes) && !forOther.Match(attributes) {
			var path []string
			for _, a := range around {
				path = append(path, a.name)
			}
			t := InlineTests{Name: strings.Join(append(path, name), "::"), From: m[0], To: to, OtherFile: !body}
			t.First, t.Last = lineAt(src, t.From), lineAt(src, t.To-1)
			out, end = append(out, t), to
		}
		if body {
			around = append(around, rustModule{name, to})
		}
	}
	return out
}

type rustModule struct {
	name string
	end  int
}

// braceEnd returns the place after the brace that closes the one at from, the end of
// the text where none does.
func braceEnd(masked []byte, from int) int {
	depth := 0
	for i := from; i < len(masked); i++ {
		switch masked[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(masked)
}

func lineAt(src []byte, pos int) int { return 1 + bytes.Count(src[:pos], []byte("\n")) }

// ReplaceInlineTests returns a file with the modules of tests as they are in another
// version of it: in the place of those of the same name, or at the end of the file.
// Modules that are missing in the other version stay. It is false if that version has none,
// or one belongs into a module that is not there.
func ReplaceInlineTests(path string, src, other []byte) ([]byte, bool) {
	wanted := slices.DeleteFunc(FindInlineTests(path, other), func(t InlineTests) bool { return t.OtherFile })
	have := FindInlineTests(path, src)
	var missing []byte
	with := map[string][]byte{}
	for _, t := range wanted {
		text := other[t.From:t.To]
		with[t.Name] = text
		switch there := slices.ContainsFunc(have, func(h InlineTests) bool { return h.Name == t.Name }); {
		case there:
		case strings.Contains(t.Name, "::"):
			return nil, false
		default:
			missing = slices.Concat(missing, []byte("\n"), text, []byte("\n"))
		}
	}
	var out []byte
	at := 0
	for _, t := range have {
		if text, ok := with[t.Name]; ok {
			out = slices.Concat(out, src[at:t.From], text)
			at = t.To
		}
	}
	return slices.Concat(out, src[at:], missing), len(wanted) > 0
}

// DifferOnlyInInlineTests reports whether two versions of a file differ, but in nothing
// else than their modules of tests and in white space.
func DifferOnlyInInlineTests(path string, was, is []byte) bool {
	if bytes.Equal(was, is) || len(FindInlineTests(path, was))+len(FindInlineTests(path, is)) == 0 {
		return false
	}
	return slices.EqualFunc(bytes.Fields(productOf(path, was)), bytes.Fields(productOf(path, is)), bytes.Equal)
}

// productOf is a file without its modules of tests.
func productOf(path string, src []byte) []byte {
	var out []byte
	at := 0
	for _, t := range FindInlineTests(path, src) {
		out = slices.Concat(out, src[at:t.From], []byte(" "))
		at = t.To
	}
	return append(out, src[at:]...)
}
