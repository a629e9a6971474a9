package corpus

import (
	"slices"
	"strings"
)

// GoName is what a Go test calls its *testing.T.
func (t *TestCase) GoName() string {
	if m := goParam.FindStringSubmatch(t.Lines[t.Head]); m != nil {
		return m[1]
	}
	if strings.HasPrefix(t.Lines[t.Head], "func (") {
		return "suite.T()"
	}
	return "t"
}

// SwiftThrows lets a test throw that did not.
func (t *TestCase) SwiftThrows(lines []string, text string) []string {
	if t.Lang.Name == "swift" && (strings.HasPrefix(text, "try ") || strings.HasPrefix(text, "throw ")) && !strings.Contains(lines[t.Head], "throws") {
		lines[t.Head] = strings.Replace(lines[t.Head], "() {", "() throws {", 1)
	}
	return lines
}

// InEvery puts a statement at the beginning of every test of the file.
func (t *TestCase) InEvery(text string) []string {
	lines := slices.Clone(t.Lines)
	all := FindTests(t.File, []byte(t.File0()))
	slices.Reverse(all)
	for _, o := range all {
		if o.Body < 1 {
			continue
		}
		say := strings.ReplaceAll(text, "{t}", o.GoName())
		lines = slices.Concat(lines[:o.Body], Indented(o.Inner(), o.Lang, say), lines[o.Body:])
		lines = o.SwiftThrows(lines, say)
	}
	return lines
}

// AfterImports is the line behind the imports at the top level.
func (t *TestCase) AfterImports() int {
	at := 0
	for i := 0; i < t.Start && i < len(t.Lines); i++ {
		if Groups.MatchString(t.Lines[i]) && at > 0 {
			break
		}
		if importLine.MatchString(t.Lines[i]) {
			at = i + 1
			for balance(strings.Join(t.Lines[i:at], "\n")) > 0 && at < len(t.Lines) {
				at++
			}
		}
	}
	return at
}

// LiteralsOf returns what a test gives and what it expects: the strings outside of
// Assertions and those inside; where all is in one line, the first and the others.
func (t *TestCase) LiteralsOf() (in, out []string) {
	inside := map[int]bool{}
	for _, a := range t.Assertions() {
		for i := a.From; i <= a.To; i++ {
			inside[i] = true
		}
	}
	for i := t.Body; i <= t.Last(); i++ {
		if goFails.MatchString(t.Lines[i]) && t.Lang.Name == "go" {
			continue // a message
		}
		for _, l := range Literal.FindAllString(t.Lines[i], -1) {
			switch {
			case len(l) < 3 || l[0] != '"' && l[0] != '\'':
			case inside[i]:
				out = append(out, l)
			default:
				in = append(in, l)
			}
		}
	}
	if len(in) == 0 && len(out) > 1 {
		in, out = out[:1], out[1:]
	}
	return in, out
}

var importLine = Re(`^(import |from \S+ import |use |using |package |require |require_relative |#include|\s+use ExUnit)`)

var goParam = Re(`(\w+) \*testing\.\w+`)

// Groups matches the line that opens a class or group of tests.
var Groups = Re(`^\s*((public |final |internal |abstract |sealed |static |export |@\w+ )*(class|object) \w+|(RSpec\.)?(describe|context|suite)[ (]|defmodule )`)

// Literal matches strings and numbers.
var Literal = Re(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\b\d+(?:\.\d+)?\b`)

// Indented puts lines at an indentation, with the steps of the text around.
func Indented(at string, l *Language, text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		ind := IndentOf(line)
		out = append(out, at+strings.Repeat(l.Step(at), len(ind)/max(1, len(l.Indent)))+strings.TrimSpace(line))
	}
	return out
}
