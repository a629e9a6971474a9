package integrity

import (
	"regexp"
	"slices"

	"supervise/source"
)

// defined finds the names that product code defines: functions and methods,
// types, and constants of a module.
var defined = regexp.MustCompile(`(?m)^\s*(?:(?:export|default|public|protected|private|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|const|unsafe|open|override|sealed|data|inline|virtual|func \([^)]*\))\s+)*` +
	`(?:(?:func|def|fn|fun|function\*?|class|struct|enum|trait|interface|type|module|record|object|macro_rules!|var|let|const|static|val|defmodule|defp?|defmacro)\s+(?:self\.)?([A-Za-z_$][\w$?!]*)|` +
	`([A-Za-z_$][\w$]*)\s*(?:=|:)\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>)|` +
	`(?:[\w<>\[\],.?]+\s+)?([A-Za-z_$][\w$]*)\s*\([^;]*\)\s*(?:throws [\w, .]+)?\{)`)

// names returns what the product code of a side defines.
func (s *side) names() map[string]bool {
	out := map[string]bool{}
	if !s.product() {
		return out
	}
	for _, f := range s.source().Functions {
		out[lastName(f.Name)] = true
	}
	for _, m := range defined.FindAllSubmatch(s.withoutStrings(), -1) {
		for _, name := range m[1:] {
			if len(name) > 0 {
				out[string(name)] = true
			}
		}
	}
	return out
}

var lastPart = regexp.MustCompile(`[A-Za-z_$][\w$]*[?!]?$`)

func lastName(s string) string { return lastPart.FindString(s) }

// gone returns the names that product code defined before and does not now, in
// any file of the change.
func (c *change) gone() map[string]bool {
	if c.goneNames != nil {
		return c.goneNames
	}
	c.goneNames = map[string]bool{}
	still := map[string]bool{}
	for _, f := range c.files {
		if !f.before().product() && !f.after().product() || len(f.addedLines())+len(f.removedLines()) == 0 {
			continue
		}
		for name := range f.before().names() {
			c.goneNames[name] = true
		}
		for name := range f.after().names() {
			still[name] = true
		}
	}
	for name := range still {
		delete(c.goneNames, name)
	}
	return c.goneNames
}

// subjectGone reports whether a test used a name that product code does not
// define any more.
func (c *change) subjectGone(t *test) bool {
	gone := c.gone()
	return len(gone) > 0 && t.s.language() != source.Unknown && slices.ContainsFunc(t.Symbols, func(s string) bool {
		name := lastName(s)
		return len(name) > 2 && gone[name]
	})
}
