package hook

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/shell"

	"mvdan.cc/sh/v3/syntax"
)

// nameFilter is a condition on file names, such as that of "find -name" or of a grep.
type nameFilter struct {
	re     *regexp.Regexp // matches a path
	invert bool           // a path passes if it does not match
}

// passesFilters reports whether a name passes all filters of a word.
func (w word) passesFilters(name string) bool {
	return !slices.ContainsFunc(w.filters, func(f nameFilter) bool { return f.re.MatchString(name) == f.invert })
}

// maxWords limits the words that variables with several values can expand to.
const maxWords = 256

// expandToOne returns the first word of an expansion, or an empty word if there is none.
func (r *shellReader) expandToOne(w *syntax.Word) word {
	list := r.expandWord(w)
	if len(list) == 0 {
		return word{}
	}
	return list[0]
}

// expandWord returns the expansion of a word. It has several words if a variable or the output of
// another command has several.
func (r *shellReader) expandWord(w *syntax.Word) []word {
	if w == nil {
		return nil
	}
	list := []word{{}}
	for _, p := range w.Parts {
		list = combineWords(list, r.expandPart(p, false))
	}
	for i := range list {
		if list[i].text == "~" || strings.HasPrefix(list[i].text, "~/") {
			list[i].text = r.home + list[i].text[1:]
		}
	}
	return list
}

// expandArguments returns the expansion of arguments, including that of their braces.
func (r *shellReader) expandArguments(list []*syntax.Word) []word {
	out := []word{}
	for _, w := range list {
		syntax.SplitBraces(w)
		out = append(out, r.expandWord(w)...)
	}
	return out
}

// combineWords returns every word of before followed by every word of more, up to maxWords.
func combineWords(before, more []word) []word {
	if len(more) == 0 {
		return before
	}
	var out []word
	for _, a := range before {
		for _, b := range more {
			if len(a.text)+len(b.text) > maxLength {
				return []word{unknownWord}
			}
			if len(out) < maxWords {
				out = append(out, word{a.text + b.text, a.glob || b.glob, a.unknown || b.unknown, append(a.filters, b.filters...)})
			}
		}
	}
	return out
}

// unknownWord is a word of which nothing is known, and unknownStream an output of which nothing
// is known.
var (
	unknownWord   = word{text: "*", glob: true, unknown: true}
	unknownStream = stream{words: []word{unknownWord}}
)

// expandPart returns the expansion of a part of a word. quoted reports whether the part is in
// double quotes.
func (r *shellReader) expandPart(p syntax.WordPart, quoted bool) []word {
	switch p := p.(type) {
	case *syntax.Lit:
		text, pattern := shell.UnescapeLiteral(p.Value, quoted)
		return []word{{text: text, glob: pattern}}
	case *syntax.SglQuoted:
		if p.Dollar {
			return []word{{text: strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, `\'`, `'`).Replace(p.Value)}}
		}
		return []word{{text: p.Value}}
	case *syntax.DblQuoted:
		list := []word{{}}
		for _, in := range p.Parts {
			list = combineWords(list, r.expandPart(in, true))
		}
		return list
	case *syntax.ParamExp:
		return r.expandParam(p)
	case *syntax.CmdSubst:
		dir := r.dir
		out := r.readStatements(p.Stmts, stream{})
		r.dir = dir
		if quoted && out.known {
			return []word{{text: strings.TrimRight(out.text, "\n")}}
		}
		if len(out.words) > 0 {
			return out.words
		}
	case *syntax.ProcSubst:
		return []word{r.expandProcSubst(p)}
	case *syntax.BraceExp:
		return r.expandBraces(p)
	case *syntax.ExtGlob:
		return []word{{text: "*", glob: true}}
	}
	return []word{unknownWord}
}

// expandProcSubst returns the name of a file with the output of a process substitution, as in
// <(cmd).
func (r *shellReader) expandProcSubst(p *syntax.ProcSubst) word {
	out := r.readStatements(p.Stmts, stream{})
	if !out.known || p.Op != syntax.CmdIn {
		return unknownWord
	}
	name := "/dev/fd/" + strconv.Itoa(len(r.writtenFiles))
	r.writtenFiles[name] = out.text
	return word{text: name}
}

// expandBraces returns the expansion of {a,b}; {1..9} is not expanded.
func (r *shellReader) expandBraces(p *syntax.BraceExp) []word {
	if p.Sequence {
		return []word{unknownWord}
	}
	var out []word
	for _, w := range p.Elems {
		list := r.expandWord(w)
		out = append(out, list[:min(len(list), maxWords-len(out))]...)
	}
	return out
}

// expandParam returns the values of a variable, or an unknown word.
func (r *shellReader) expandParam(p *syntax.ParamExp) []word {
	if p.Param == nil || p.Length || p.Repl != nil || p.Slice != nil || p.Excl {
		return []word{unknownWord}
	}
	name := p.Param.Value
	if list := r.variable(name); list != nil && (p.Exp == nil || isDefaultOperator(p.Exp.Op)) {
		return list
	}
	switch {
	case name == "HOME":
		return []word{{text: r.home}}
	case name == "PWD":
		return []word{{text: r.dir}}
	case name == "TMPDIR":
		return []word{{text: "/tmp"}}
	case p.Exp != nil && p.Exp.Word != nil && isDefaultOperator(p.Exp.Op):
		return r.expandWord(p.Exp.Word)
	}
	return []word{unknownWord}
}

// variable returns the values of a variable, or of an argument of the script that is read. It
// returns nil if they are not known.
func (r *shellReader) variable(name string) []word {
	switch n, err := strconv.Atoi(name); {
	case name == "0", name == "BASH_SOURCE":
		return r.scriptName
	case name == "@":
		return r.scriptArgs
	case err == nil && n > 0 && n <= len(r.scriptArgs):
		return r.scriptArgs[n-1 : n]
	}
	return r.vars[name]
}

// isDefaultOperator reports whether an operator provides a default for a variable, as in ${x:-y}.
func isDefaultOperator(op syntax.ParExpOperator) bool {
	return op == syntax.DefaultUnset || op == syntax.DefaultUnsetOrNull || op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull
}

// printedOutput returns the output of a command, as far as it follows from its arguments and its
// input.
func printedOutput(c command) stream {
	switch c.name {
	case "echo", "printf":
		return echoOutput(c)
	case "cat", "tac", "sort", "uniq", "head", "tail", "tr", "cut", "tee":
		switch remaining := operands(c.args); {
		case len(remaining) == 1 && remaining[0].text == "/dev/null":
			return stream{known: true}
		case len(remaining) == 0 || c.name != "cat":
			return stream{words: c.in.words, text: c.in.text, known: c.in.known && c.name == "cat"}
		}
	case "grep", "egrep", "rg":
		return grepOutput(c)
	case "find", "fd":
		return stream{words: findOutput(c)}
	case "ls":
		return stream{words: lsOutput(c)}
	case "git":
		return stream{words: gitOutput(c)}
	case "true", ":", "false", "mkdir", "touch", "rm", "mv", "cp":
		return stream{known: true}
	}
	return unknownStream
}

// echoOutput returns the output of echo or printf. Of the formats of printf, only texts and line
// ends are expanded.
func echoOutput(c command) stream {
	args := c.args
	end := "\n"
	for c.name == "echo" && len(args) > 0 && slices.Contains([]string{"-n", "-e", "-ne", "-en"}, args[0].text) {
		if strings.Contains(args[0].text, "n") {
			end = ""
		}
		args = args[1:]
	}

	out := stream{known: true}
	var parts []string
	for _, w := range args {
		out.known = out.known && !w.unknown && !w.glob
		if w.glob || w.unknown {
			out.words = append(out.words, w)
		} else {
			out.words = append(out.words, splitWords(strings.ReplaceAll(w.text, `\n`, "\n"))...)
		}
		parts = append(parts, strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(w.text))
	}

	switch {
	case c.name == "echo":
		out.text = strings.Join(parts, " ") + end
	case len(parts) == 1:
		out.text = strings.ReplaceAll(parts[0], "%%", "%")
	default:
		out.known = false
	}
	return out
}

// grepOutput returns the output of grep: the names in its input that match, or the files that it
// lists.
func grepOutput(c command) stream {
	remaining := operands(c.args)
	if len(remaining) == 0 {
		return unknownStream
	}
	if len(remaining) > 1 || len(c.in.words) == 0 {
		if hasOption(c.args, "-l -L --files-with-matches") {
			return stream{words: patternsBelow(remaining[1:], c.dir)}
		}
		return unknownStream
	}

	out := stream{words: slices.Clone(c.in.words)}
	re, err := regexp.Compile(strings.ReplaceAll(remaining[0].text, `\|`, "|"))
	if err != nil {
		return out
	}
	filter := nameFilter{re, hasOption(c.args, "-v --invert-match")}
	for i, w := range out.words {
		out.words[i].filters = append(slices.Clip(w.filters), filter)
	}
	return out
}

// patternsBelow returns patterns for everything in the folders of a list, or in dir if the list
// is empty.
func patternsBelow(list []word, dir string) []word {
	if len(list) == 0 {
		list = []word{{text: "."}}
	}
	out := make([]word, 0, len(list))
	for _, w := range list {
		w.text, w.glob = path.Join(joinPath(dir, w.text), "**"), true
		out = append(out, w)
	}
	return out
}

// findOutput returns the files that find would print, as patterns with filters.
func findOutput(c command) []word {
	var places []word
	args := c.args
	for len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && args[0].text != "(" && args[0].text != "!" {
		places, args = append(places, args[0]), args[1:]
	}

	out := patternsBelow(places, c.dir)
	var names []nameFilter
	for i := 0; i+1 < len(args); i++ {
		invert := i > 0 && (args[i-1].text == "!" || args[i-1].text == "-not")
		switch args[i].text {
		case "-name", "-iname":
			names = append(names, nameFilter{globRE(`(^|/)`, args[i+1].text), invert})
		case "-path", "-wholename", "-ipath":
			names = append(names, nameFilter{globRE(`(^|/)`, strings.TrimPrefix(strings.TrimPrefix(args[i+1].text, "."), "/")), invert})
		case "-o", "-or":
			names = nil // one of several conditions suffices, so all files are kept to be safe
			i = len(args)
		}
	}

	for i := range out {
		out[i].filters = append(out[i].filters, names...)
	}
	return out
}

// globRE returns a regular expression for a pattern of find at the end of a path. before is the
// expression for what precedes it. An invalid pattern matches everything.
func globRE(before, pattern string) *regexp.Regexp {
	text := strings.NewReplacer(`\*`, ".*", `\?`, ".", `\[`, "[", `\]`, "]").Replace(regexp.QuoteMeta(pattern))
	re, err := regexp.Compile(before + text + "$")
	if err != nil {
		return regexp.MustCompile("")
	}
	return re
}

// lsOutput returns the files that ls would print.
func lsOutput(c command) []word {
	remaining := operands(c.args)
	if len(remaining) == 0 {
		return patternsBelow(nil, c.dir)
	}
	return remaining
}

// gitOutput returns the files that git would print.
func gitOutput(c command) []word {
	g := parseGit(c)
	switch g.subcommand {
	case "ls-files", "ls-tree":
		var out []word
		for _, w := range operands(g.args) {
			w.glob = w.glob || strings.ContainsAny(w.text, "*?")
			if strings.HasPrefix(w.text, "*") {
				w.text = "**/" + w.text // git's * matches across folders
			}
			out = append(out, w)
		}
		if len(out) == 0 {
			return patternsBelow(nil, g.dir)
		}
		return out
	case "diff", "grep", "status", "log", "show":
		return patternsBelow(nil, g.dir)
	}
	return []word{unknownWord}
}
