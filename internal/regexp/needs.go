package regexp

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxTexts is the maximum number of texts that are derived from an expression.
const maxTexts = 40

// requiredTexts returns texts of which each match contains at least one, or nil if none are
// known. For (foo|bar)\d+ they are "foo" and "bar". fold reports whether the expression ignores
// case; then the texts are in lower case.
func requiredTexts(tree *syntax.Regexp) (list []string, fold bool) {
	fold = ignoresCase(tree)
	exact, needed := matchedTexts(tree, fold)
	list = moreSelective(needed, exact)
	if !fold {
		return list, fold
	}
	for i, text := range list {
		if list[i] = plainPart(text); list[i] == "" {
			return nil, fold
		}
	}
	return list, fold
}

// ignoresCase reports whether any part of an expression ignores case.
func ignoresCase(tree *syntax.Regexp) bool {
	return tree.Flags&syntax.FoldCase != 0 || slices.ContainsFunc(tree.Sub, ignoresCase)
}

// plainPart returns the longest part of a lower-case text that can be searched for in a text
// whose ASCII letters are in lower case. It excludes k and s, which are also the lower case of
// letters beyond ASCII. It is "" if nothing remains.
func plainPart(text string) string {
	best := ""
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || r == 'k' || r == 's' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// matchedTexts returns all texts that an expression matches (exact), or nil if there are many,
// and texts of which each match contains at least one (needed), or nil if none are known.
func matchedTexts(tree *syntax.Regexp, fold bool) (exact, needed []string) {
	switch tree.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, nil
	case syntax.OpLiteral:
		text := string(tree.Rune)
		if fold {
			text = strings.ToLower(text)
		}
		return []string{text}, nil
	case syntax.OpCharClass:
		return classTexts(tree.Rune, fold), nil
	case syntax.OpCapture:
		return matchedTexts(tree.Sub[0], fold)
	case syntax.OpQuest:
		if exact, _ := matchedTexts(tree.Sub[0], fold); exact != nil && len(exact) < maxTexts {
			return sortedUnique(append(slices.Clone(exact), "")), nil
		}
	case syntax.OpPlus:
		exact, needed := matchedTexts(tree.Sub[0], fold)
		return nil, moreSelective(needed, exact)
	case syntax.OpRepeat:
		if tree.Min > 0 {
			exact, needed := matchedTexts(tree.Sub[0], fold)
			return nil, moreSelective(needed, exact)
		}
	case syntax.OpConcat:
		return concatTexts(tree.Sub, fold)
	case syntax.OpAlternate:
		return alternateTexts(tree.Sub, fold)
	default: // any text, or any number of repetitions
	}
	return nil, nil
}

// classTexts returns the characters of a class, or nil if there are many.
func classTexts(ranges []rune, fold bool) []string {
	var out []string
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			if c >= utf8.RuneSelf && !fold || len(out) > 8 {
				return nil
			}
			text := string(c)
			if fold {
				text = strings.ToLower(text)
			}
			out = append(out, text)
		}
	}
	return sortedUnique(out)
}

// sortedUnique sorts a list and removes duplicates.
func sortedUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// concatTexts is matchedTexts for consecutive parts.
func concatTexts(parts []*syntax.Regexp, fold bool) (exact, needed []string) {
	// run are the texts that the last parts match together.
	run, complete := []string{""}, true
	for _, part := range parts {
		exactTexts, partNeeded := matchedTexts(part, fold)
		if exactTexts != nil && len(run)*len(exactTexts) <= maxTexts {
			run = combine(run, exactTexts)
			continue
		}

		complete = false
		needed = moreSelective(moreSelective(needed, run), partNeeded)
		run = []string{""}
		if exactTexts != nil {
			run = exactTexts
		}
	}

	if complete {
		return run, nil
	}
	return nil, moreSelective(needed, run)
}

// combine returns every text of a followed by every text of b.
func combine(a, b []string) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return sortedUnique(out)
}

// alternateTexts is matchedTexts for alternative parts.
func alternateTexts(parts []*syntax.Regexp, fold bool) (exact, needed []string) {
	complete, known := true, true
	for _, part := range parts {
		exactTexts, partNeeded := matchedTexts(part, fold)
		exact = append(exact, exactTexts...)
		complete = complete && exactTexts != nil
		partNeeded = moreSelective(partNeeded, exactTexts)
		needed = append(needed, partNeeded...)
		known = known && partNeeded != nil
	}
	exact, needed = sortedUnique(exact), sortedUnique(needed)
	if !complete || len(exact) > maxTexts {
		exact = nil
	}
	if !known || len(needed) > maxTexts {
		needed = nil
	}
	return exact, needed
}

// moreSelective returns the list whose shortest text is longer, or the shorter list if these are
// equal. It returns nil if that list is empty or contains the empty text.
func moreSelective(a, b []string) []string {
	if shortestLen(b) > shortestLen(a) || shortestLen(b) == shortestLen(a) && len(b) < len(a) {
		a = b
	}
	if shortestLen(a) == 0 {
		return nil
	}
	return a
}

// shortestLen returns the length of the shortest text, or 0 for an empty list.
func shortestLen(list []string) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b string) int { return cmp.Compare(len(a), len(b)) }))
}

// staysInLine reports whether no match contains a line end or depends on the ends of the
// text.
func staysInLine(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
		return false
	case syntax.OpLiteral:
		return !slices.Contains(tree.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			if tree.Rune[i] <= '\n' && '\n' <= tree.Rune[i+1] {
				return false
			}
		}
	default: // the answer depends on the parts
	}
	return !slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return !staysInLine(sub) })
}

// matchPrefixes returns texts with which each match starts, or nil if they are not known or
// short. atLine reports that a match starts with its line; then optional characters may precede
// the text within the line.
func matchPrefixes(tree *syntax.Regexp) (list []string, atLine bool) {
	if tree.Op == syntax.OpConcat && tree.Sub[0].Op == syntax.OpBeginLine {
		parts := tree.Sub[1:]
		for len(parts) > 0 && (parts[0].Op == syntax.OpStar || parts[0].Op == syntax.OpQuest) && staysInLine(parts[0]) {
			parts = parts[1:]
		}
		list, atLine = concatPrefixes(parts), true
		if needsTextStart(tree) || slices.ContainsFunc(list, func(text string) bool { return strings.Contains(text, "\n") }) {
			return nil, false
		}
	} else {
		list = prefixTexts(tree)
	}
	if shortestLen(list) < 2 {
		return nil, false
	}
	return list, atLine
}

// prefixTexts returns texts with which each match of an expression starts, or nil if there are
// many.
func prefixTexts(tree *syntax.Regexp) []string {
	switch tree.Op {
	case syntax.OpConcat:
		return concatPrefixes(tree.Sub)
	case syntax.OpCapture, syntax.OpPlus:
		return prefixTexts(tree.Sub[0])
	case syntax.OpAlternate:
		var out []string
		for _, sub := range tree.Sub {
			list := prefixTexts(sub)
			if list == nil {
				return nil
			}
			out = append(out, list...)
		}
		if out = sortedUnique(out); len(out) <= maxTexts {
			return out
		}
		return nil
	default:
	}
	exact, _ := matchedTexts(tree, false)
	return exact
}

// concatPrefixes is prefixTexts for consecutive parts.
func concatPrefixes(parts []*syntax.Regexp) []string {
	run := []string{""}
	for _, part := range parts {
		exactTexts, _ := matchedTexts(part, false)
		prefixes := exactTexts
		if exactTexts == nil {
			prefixes = prefixTexts(part)
		}
		if prefixes == nil || len(run)*len(prefixes) > maxTexts {
			break
		}
		if run = combine(run, prefixes); exactTexts == nil {
			break
		}
	}
	return run
}

// needsTextStart reports whether a part of an expression matches only at the start of the text.
func needsTextStart(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpBeginText || slices.ContainsFunc(tree.Sub, needsTextStart)
}
