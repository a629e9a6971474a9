package source

import (
	"bytes"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/lex"
)

// InlineTests is a module of tests in the same file as the code under test, as in Rust:
// #[cfg(test)] mod tests { … }.
type InlineTests struct {
	Name      string // with the modules around it, as in calc::tests
	From, To  int    // byte offsets of its start, including attributes, and its end
	First     int    // its first line, from 1
	Last      int    // its last line
	OtherFile bool   // only declared here (mod tests;), with its body in another file
}

// ContainsLine reports whether line n, from 1, is in the module.
func (t InlineTests) ContainsLine(n int) bool { return t.First <= n && n <= t.Last }

var (
	// rustModuleRE matches the head of a Rust module, as in "#[cfg(test)] mod tests {". The
	// groups are its attributes, its name, and the brace or semicolon after it.
	rustModuleRE = regexp.MustCompile(`((?:#\[[^\]]*\]\s*)*)(?:pub(?:\s*\([^)]*\))?\s+)?\bmod\s+(\w+)\s*([{;])`)
	// cfgTestRE matches an attribute by which a module is built only for tests: cfg(test).
	cfgTestRE = regexp.MustCompile(`\bcfg\s*\([^\]]*\btest\b`)
	// cfgNotTestRE matches the opposite, as in cfg(not(test)).
	cfgNotTestRE = regexp.MustCompile(`\bnot\s*\(\s*test\b`)
)

// FindInlineTests returns the outermost test modules of a file, in order. It returns nil in
// languages other than Rust.
func FindInlineTests(path string, src []byte) []InlineTests {
	if DetectLanguage(path, src) != Rust || !bytes.Contains(src, []byte("cfg")) {
		return nil
	}
	masked := lex.Mask(src, lex.Classify(Rust, src))

	var out []InlineTests
	var enclosing []rustModule
	end := 0
	for _, m := range rustModuleRE.FindAllSubmatchIndex(masked, -1) {
		for len(enclosing) > 0 && enclosing[len(enclosing)-1].end <= m[0] {
			enclosing = enclosing[:len(enclosing)-1]
		}

		name, body := string(masked[m[4]:m[5]]), masked[m[6]] == '{'
		to := m[1]

		if body {
			to = findClosingBrace(masked, m[6])
		}

		if attributes := masked[m[2]:m[3]]; m[0] >= end && cfgTestRE.Match(attributes) && !cfgNotTestRE.Match(attributes) {
			var path []string
			for _, a := range enclosing {
				path = append(path, a.name)
			}
			t := InlineTests{Name: strings.Join(append(path, name), "::"), From: m[0], To: to, OtherFile: !body}
			t.First, t.Last = lineAt(src, t.From), lineAt(src, t.To-1)
			out, end = append(out, t), to
		}
		if body {
			enclosing = append(enclosing, rustModule{name, to})
		}
	}
	return out
}

// rustModule is a module and the byte offset of its end.
type rustModule struct {
	name string
	end  int
}

// findClosingBrace returns the offset after the brace that closes the one at from, or the end
// of the text if none does.
func findClosingBrace(masked []byte, from int) int {
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

// lineAt returns the line, from 1, of a byte offset.
func lineAt(src []byte, pos int) int { return 1 + bytes.Count(src[:pos], []byte("\n")) }

// ReplaceInlineTests returns src with the test modules of another version of the file. They
// replace modules of the same name, or are appended if src has none of that name. Test modules
// that only src has are unchanged. It returns false if the other version has no test module, or
// one whose parent module is missing in src.
func ReplaceInlineTests(path string, src, other []byte) ([]byte, bool) {
	wanted := slices.DeleteFunc(FindInlineTests(path, other), func(t InlineTests) bool { return t.OtherFile })
	have := FindInlineTests(path, src)
	// missing is the text to append.
	var missing []byte
	wantedText := map[string][]byte{}
	for _, t := range wanted {
		text := other[t.From:t.To]
		wantedText[t.Name] = text
		switch exists := slices.ContainsFunc(have, func(h InlineTests) bool { return h.Name == t.Name }); {
		case exists:
		case strings.Contains(t.Name, "::"):
			return nil, false
		default:
			missing = slices.Concat(missing, []byte("\n"), text, []byte("\n"))
		}
	}

	var out []byte
	at := 0
	for _, t := range have {
		if text, ok := wantedText[t.Name]; ok {
			out = slices.Concat(out, src[at:t.From], text)
			at = t.To
		}
	}
	return slices.Concat(out, src[at:], missing), len(wanted) > 0
}

// DifferOnlyInInlineTests reports whether two versions of a file differ, but only in their
// test modules and in white space.
func DifferOnlyInInlineTests(path string, before, after []byte) bool {
	if bytes.Equal(before, after) || len(FindInlineTests(path, before))+len(FindInlineTests(path, after)) == 0 {
		return false
	}
	return slices.EqualFunc(bytes.Fields(withoutInlineTests(path, before)), bytes.Fields(withoutInlineTests(path, after)), bytes.Equal)
}

// withoutInlineTests returns a file without its test modules.
func withoutInlineTests(path string, src []byte) []byte {
	var out []byte
	at := 0
	for _, t := range FindInlineTests(path, src) {
		out = slices.Concat(out, src[at:t.From], []byte(" "))
		at = t.To
	}
	return append(out, src[at:]...)
}
