package seal

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/source"
)

// lines returns the place of the lines of a test with the comments and annotations above it, and the
// empty lines after it, or before it at the end of the file.
func lines(text []byte, d source.TestDef) source.Span {
	var starts []int
	for at := 0; at < len(text); at = lineEnd(text, at) {
		starts = append(starts, at)
	}
	line := func(n int) string { // from 0
		if n+1 < len(starts) {
			return string(text[starts[n]:starts[n+1]])
		}
		return string(text[starts[n]:])
	}
	first := head(line, d.Line-1)
	end := min(d.End, len(starts))
	for end < len(starts) && strings.TrimSpace(line(end)) == "" {
		end++
	}
	if end < len(starts) {
		return source.Span{From: starts[first], To: starts[end]}
	}
	for first > 0 && strings.TrimSpace(line(first-1)) == "" {
		first--
	}
	return source.Span{From: starts[first], To: len(text)}
}

// head returns the first line of the comments and annotations above line n.
func head(line func(int) string, n int) int {
	depth := indent(line(n))
	for first, i := n, n-1; ; i-- {
		if i < 0 || n-i > maxAbove {
			return first
		}
		text := strings.TrimSpace(line(i))
		switch at := indent(line(i)); {
		case text == "" && first == i+1, at < depth:
			return first
		case at == depth && hasAnyPrefix(text, "@", "#", "//", "/*", "[", "*"), at == depth+1 && strings.HasPrefix(text, "*"):
			first = i
		case at > depth, hasAnyPrefix(text, ")", "]", "}"): // inside an annotation, if one is above
		default:
			return first
		}
	}
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func hasAnyPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// joined returns the spans in order, without overlaps.
func joined(list []source.Span) (out []source.Span) {
	slices.SortFunc(list, func(a, b source.Span) int { return a.From - b.From })
	for _, s := range list {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// unusedImports returns the lines of the imports of a Go file that nothing uses without the cuts. Go
// does not compile a file with such imports.
func unusedImports(original, text []byte) (out []source.Span) {
	set := token.NewFileSet()
	before, err := parser.ParseFile(set, "", original, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	after, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	used, stillUsed := qualifiers(before), qualifiers(after)
	for _, x := range before.Imports {
		name, _ := strconv.Unquote(x.Path.Value)
		name = path.Base(name)
		if x.Name != nil {
			name = x.Name.Name
		}
		if !used[name] || stillUsed[name] {
			continue
		}
		from, to := set.Position(x.Pos()).Offset, set.Position(x.End()).Offset
		from = bytes.LastIndexByte(original[:from], '\n') + 1
		out = append(out, source.Span{From: from, To: lineEnd(original, to)})
	}
	return out
}

// qualifiers returns the names before the dots of a file.
func qualifiers(f *ast.File) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				out[x.Name] = true
			}
		}
		return true
	})
	return out
}
