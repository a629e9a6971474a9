package facts

import (
	"bytes"
	"sort"
)

// definitions returns the names that product code defines: functions and methods, types, and
// constants of a module. At the beginning of each line, past modifiers, it looks for
//
//	class Name, def self.name          a word that defines, and a name
//	name = function, name: (…) =>      a function that is given a name
//	type name(…) throws X {            a function without a word of that kind
//
// It finds the same as the regular expression in its test, which takes a hundred times as long: in
// a text without semicolons, the expression looks for the brace of a function up to the end of the
// text, again at each call.
func definitions(text []byte) []string {
	d := &definitionReader{text: text, semicolon: -1}
	var out []string
	for i := 0; i < len(text); {
		name, end := d.definitionAt(i)
		if end > 0 {
			out = append(out, string(name))
		} else {
			end = i + 1
		}
		next := bytes.IndexByte(text[end-1:], '\n') // the line may end with what was read
		if next < 0 {
			break
		}
		i = end + next
	}
	return out
}

// definitionReader reads definitions from the front of a text to its end. Places are offsets in
// bytes.
type definitionReader struct {
	text      []byte
	semicolon int   // the first semicolon after the last place that was looked up
	parens    []int // the places of parentheses before a brace, as in ") {"; see findBodies
	bodies    []int // for each of parens, the place after the brace
	scanned   bool  // findBodies was called
}

// modifiers are words that may come before a definition, and definingWords those that begin one.
var (
	modifiers     = wordSet("export default public protected private internal static final abstract async const unsafe open override sealed data inline virtual pub")
	definingWords = wordSet("func def fn fun function function* class struct enum trait interface type module record object macro_rules! var let const static val defmodule def defp defmacro")
)

// wordSet returns the words of a text, which are separated by blanks.
func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range bytes.Fields([]byte(words)) {
		out[string(w)] = true
	}
	return out
}

// definitionAt reads the definition that begins with the line at i; end is 0 if there is none. It
// first skips all modifiers. If no definition follows, it skips fewer, because the last modifier
// may be the word that defines, as in "const x".
func (d *definitionReader) definitionAt(i int) (name []byte, end int) {
	places := []int{d.skipBlanks(i)}
	for {
		next := d.skipModifier(places[len(places)-1])
		if next < 0 {
			break
		}
		places = append(places, next)
	}

	for k := len(places) - 1; k >= 0; k-- {
		for _, read := range []func(int) ([]byte, int){d.readKeyword, d.readAssignment, d.readTyped} {
			if name, end := read(places[k]); end > 0 {
				return name, end
			}
		}
	}
	return nil, 0
}

// skipModifier returns the place after a modifier and the blanks behind it, -1 if there is none.
func (d *definitionReader) skipModifier(i int) int {
	var j int
	switch remaining := d.text[i:]; {
	case bytes.HasPrefix(remaining, []byte("func (")): // the receiver of a method
		n := bytes.IndexByte(remaining, ')')
		if n < 0 {
			return -1
		}
		j = i + n + 1
	default:
		j = d.skipWhile(i, isWordByte)
		if !modifiers[string(d.text[i:j])] {
			return -1
		}
		if string(d.text[i:j]) == "pub" && j < len(d.text) && d.text[j] == '(' { // pub(crate)
			k := d.skipWhile(j+1, func(c byte) bool { return c >= 'a' && c <= 'z' })
			if k == j+1 || k >= len(d.text) || d.text[k] != ')' {
				return -1
			}
			j = k + 1
		}
	}

	if k := d.skipBlanks(j); k > j {
		return k
	}
	return -1
}

// readKeyword reads "class Name". Like the other readers, it returns the name and the place after
// what it read; end is 0 if there is no such definition.
func (d *definitionReader) readKeyword(i int) (name []byte, end int) {
	j := d.skipWhile(i, isWordByte)
	if j < len(d.text) && (d.text[j] == '*' || d.text[j] == '!') {
		j++
	}
	if !definingWords[string(d.text[i:j])] {
		return nil, 0
	}

	from := d.skipBlanks(j)
	if from == j {
		return nil, 0
	}
	if bytes.HasPrefix(d.text[from:], []byte("self.")) {
		if name, end := d.readName(from+5, "$?!"); end > 0 {
			return name, end
		}
	}
	return d.readName(from, "$?!")
}

// readAssignment reads "name = function" and "name: (…) =>".
func (d *definitionReader) readAssignment(i int) (name []byte, end int) {
	name, j := d.readName(i, "$")
	if j == 0 {
		return nil, 0
	}
	if j = d.skipBlanks(j); j >= len(d.text) || d.text[j] != '=' && d.text[j] != ':' {
		return nil, 0
	}
	j = d.skipBlanks(j + 1)
	if bytes.HasPrefix(d.text[j:], []byte("async")) {
		j = d.skipBlanks(j + 5)
	}

	switch remaining := d.text[j:]; {
	case bytes.HasPrefix(remaining, []byte("function")):
		if len(remaining) > 8 && isWordByte(remaining[8]) {
			return nil, 0
		}
		return name, j + 8
	case len(remaining) > 0 && remaining[0] == '(':
		n := bytes.IndexByte(remaining, ')')
		if n < 0 {
			return nil, 0
		}
		if j = d.skipBlanks(j + n + 1); bytes.HasPrefix(d.text[j:], []byte("=>")) {
			return name, j + 2
		}
	}
	return nil, 0
}

// readTyped reads "name(…) {", which may follow a type. Between the parentheses may be others, but
// no semicolon.
func (d *definitionReader) readTyped(i int) (name []byte, end int) {
	j := d.skipWhile(i, func(c byte) bool { return isWordByte(c) || bytes.IndexByte([]byte("<>[],.?"), c) >= 0 })
	if k := d.skipBlanks(j); j > i && k > j {
		if name, end := d.readFunction(k); end > 0 {
			return name, end
		}
	}
	return d.readFunction(i)
}

// readFunction reads "name(…) {". The last closing parenthesis before the next semicolon that has a
// brace after it ends the parameters.
func (d *definitionReader) readFunction(i int) (name []byte, end int) {
	name, j := d.readName(i, "$")
	if j == 0 {
		return nil, 0
	}
	if j = d.skipBlanks(j); j >= len(d.text) || d.text[j] != '(' {
		return nil, 0
	}
	if d.semicolon < j {
		d.semicolon = len(d.text)
		if n := bytes.IndexByte(d.text[j:], ';'); n >= 0 {
			d.semicolon = j + n
		}
	}
	d.findBodies()
	k := sort.SearchInts(d.parens, d.semicolon) - 1
	if k < 0 || d.parens[k] <= j {
		return nil, 0
	}
	return name, d.bodies[k]
}

// findBodies lists the closing parentheses with a brace after them. It does so once for a text.
func (d *definitionReader) findBodies() {
	if d.scanned {
		return
	}
	d.scanned = true
	for i, c := range d.text {
		if c != ')' {
			continue
		}
		j := d.skipBlanks(i + 1)
		if bytes.HasPrefix(d.text[j:], []byte("throws ")) {
			k := d.skipWhile(j+7, func(c byte) bool { return isWordByte(c) || c == ',' || c == ' ' || c == '.' })
			if k == j+7 {
				continue
			}
			j = k
		}
		if j < len(d.text) && d.text[j] == '{' {
			d.parens, d.bodies = append(d.parens, i), append(d.bodies, j+1)
		}
	}
}

// readName reads a name of letters, digits, underscores and the bytes of more. end is 0 if there is
// none.
func (d *definitionReader) readName(i int, more string) (name []byte, end int) {
	if i >= len(d.text) || d.text[i] != '$' && (!isWordByte(d.text[i]) || d.text[i] >= '0' && d.text[i] <= '9') {
		return nil, 0
	}
	j := d.skipWhile(i, func(c byte) bool { return isWordByte(c) || bytes.IndexByte([]byte(more), c) >= 0 })
	return d.text[i:j], j
}

// skipWhile returns the first place from i on whose byte does not match.
func (d *definitionReader) skipWhile(i int, matches func(byte) bool) int {
	for i < len(d.text) && matches(d.text[i]) {
		i++
	}
	return i
}

// skipBlanks returns the first place from i on that is not white space.
func (d *definitionReader) skipBlanks(i int) int {
	return d.skipWhile(i, func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' })
}
