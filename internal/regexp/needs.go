package regexp

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// most is how many texts are kept of an expression.
const most = 40

// needs returns texts of which each match contains one, nil if none are known, and
// whether they are lower case and match in any case.
func needs(tree *syntax.Regexp) (list []string, fold bool) {
	fold = folds(tree)
	exact, some := required(tree, fold)
	list = better(some, exact)
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

// folds reports whether any part of an expression ignores case.
func folds(tree *syntax.Regexp) bool {
	return tree.Flags&syntax.FoldCase != 0 || slices.ContainsFunc(tree.Sub, folds)
}

// plainPart returns the longest part of a lower-case text that can be searched for in a
// lowered text. It excludes k and s, which are also lower case of letters beyond ASCII.
func plainPart(text string) string {
	best := ""
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || r == 'k' || r == 's' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// required returns all texts that an expression matches, nil if they are many, and
// texts of which each match contains one, nil if none are known.
func required(tree *syntax.Regexp, fold bool) (exact, some []string) {
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
		return ofClass(tree.Rune, fold), nil
	case syntax.OpCapture:
		return required(tree.Sub[0], fold)
	case syntax.OpQuest:
		if exact, _ := required(tree.Sub[0], fold); exact != nil && len(exact) < most {
			return unique(append(slices.Clone(exact), "")), nil
		}
	case syntax.OpPlus:
		exact, some := required(tree.Sub[0], fold)
		return nil, better(some, exact)
	case syntax.OpRepeat:
		if tree.Min > 0 {
			exact, some := required(tree.Sub[0], fold)
			return nil, better(some, exact)
		}
	case syntax.OpConcat:
		return inTurn(tree.Sub, fold)
	case syntax.OpAlternate:
		return either(tree.Sub, fold)
	default: // anything, or any number of it
	}
	return nil, nil
}

// ofClass returns the characters of a class, nil if they are many.
func ofClass(ranges []rune, fold bool) []string {
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
	return unique(out)
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// inTurn is required for consecutive parts.
func inTurn(parts []*syntax.Regexp, fold bool) (exact, some []string) {
	run, whole := []string{""}, true
	for _, part := range parts {
		all, one := required(part, fold)
		if all != nil && len(run)*len(all) <= most {
			run = crossed(run, all)
			continue
		}
		whole = false
		some = better(better(some, run), one)
		run = []string{""}
		if all != nil {
			run = all
		}
	}
	if whole {
		return run, nil
	}
	return nil, better(some, run)
}

func crossed(a, b []string) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return unique(out)
}

// either is required for alternative parts.
func either(parts []*syntax.Regexp, fold bool) (exact, some []string) {
	whole, known := true, true
	for _, part := range parts {
		all, one := required(part, fold)
		exact = append(exact, all...)
		whole = whole && all != nil
		one = better(one, all)
		some = append(some, one...)
		known = known && one != nil
	}
	exact, some = unique(exact), unique(some)
	if !whole || len(exact) > most {
		exact = nil
	}
	if !known || len(some) > most {
		some = nil
	}
	return exact, some
}

// better returns the list whose shortest text is longer, nil for one that contains the
// empty text.
func better(a, b []string) []string {
	if shortest(b) > shortest(a) || shortest(b) == shortest(a) && len(b) < len(a) {
		a = b
	}
	if shortest(a) == 0 {
		return nil
	}
	return a
}

func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	n := len(list[0])
	for _, text := range list {
		n = min(n, len(text))
	}
	return n
}

// inLine reports whether no match contains a line end or depends on the ends of the
// text.
func inLine(tree *syntax.Regexp) bool {
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
	default: // depends on its parts
	}
	return !slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return !inLine(sub) })
}

// leads returns texts with which each match begins, nil if they are unknown or short.
// atLine reports that a match begins in its line, after blanks.
func leads(tree *syntax.Regexp) (list []string, atLine bool) {
	if tree.Op == syntax.OpConcat && tree.Sub[0].Op == syntax.OpBeginLine {
		parts := tree.Sub[1:]
		for len(parts) > 0 && (parts[0].Op == syntax.OpStar || parts[0].Op == syntax.OpQuest) && inLine(parts[0]) {
			parts = parts[1:]
		}
		list, atLine = leadOf(parts), true
		if asksForStart(tree) || slices.ContainsFunc(list, func(text string) bool { return strings.Contains(text, "\n") }) {
			return nil, false
		}
	} else {
		list = lead(tree)
	}
	if shortest(list) < 2 {
		return nil, false
	}
	return list, atLine
}

// lead returns texts with which each match of an expression begins, nil if they are
// many.
func lead(tree *syntax.Regexp) []string {
	switch tree.Op {
	case syntax.OpConcat:
		return leadOf(tree.Sub)
	case syntax.OpCapture, syntax.OpPlus:
		return lead(tree.Sub[0])
	case syntax.OpAlternate:
		var out []string
		for _, sub := range tree.Sub {
			list := lead(sub)
			if list == nil {
				return nil
			}
			out = append(out, list...)
		}
		if out = unique(out); len(out) <= most {
			return out
		}
		return nil
	default:
	}
	exact, _ := required(tree, false)
	return exact
}

// leadOf is lead for consecutive parts.
func leadOf(parts []*syntax.Regexp) []string {
	run := []string{""}
	for _, part := range parts {
		all, _ := required(part, false)
		first := all
		if all == nil {
			first = lead(part)
		}
		if first == nil || len(run)*len(first) > most {
			break
		}
		if run = crossed(run, first); all == nil {
			break
		}
	}
	return run
}

// asksForStart reports whether an expression matches only at the beginning of the text.
func asksForStart(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpBeginText || slices.ContainsFunc(tree.Sub, asksForStart)
}
