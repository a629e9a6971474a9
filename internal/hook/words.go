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

// filter is a grep on file names.
type filter struct {
	re     *regexp.Regexp
	invert bool
}

// passes reports whether a name passes all filters of a word.
func (w word) passes(name string) bool {
	return !slices.ContainsFunc(w.keep, func(f filter) bool { return f.re.MatchString(name) == f.invert })
}

// maxWords limits the words that variables with several values can expand to.
const maxWords = 256

// one returns a word as one text.
func (r *reader) one(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	list := r.fields(w)
	if len(list) == 0 {
		return word{}
	}
	return list[0]
}

// fields returns the expansion of a word: several words if a variable or another command has
// several.
func (r *reader) fields(w *syntax.Word) []word {
	if w == nil {
		return nil
	}
	list := []word{{}}
	for _, p := range w.Parts {
		list = product(list, r.part(p, false))
	}
	for i := range list {
		if list[i].text == "~" || strings.HasPrefix(list[i].text, "~/") {
			list[i].text = r.home + list[i].text[1:]
		}
	}
	return list
}

// expanded returns the expansion of an argument, including that of its braces.
func (r *reader) expanded(w *syntax.Word) []word {
	if w != nil {
		syntax.SplitBraces(w)
	}
	return r.fields(w)
}

func product(before, more []word) []word {
	if len(more) == 0 {
		return before
	}
	var out []word
	for _, a := range before {
		for _, b := range more {
			if len(a.text)+len(b.text) > maxLength {
				return []word{unknown}
			}
			if len(out) < maxWords {
				out = append(out, word{a.text + b.text, a.glob || b.glob, a.unknown || b.unknown, append(a.keep, b.keep...)})
			}
		}
	}
	return out
}

var unknown = word{text: "*", glob: true, unknown: true}

// part returns the expansion of a part of a word.
func (r *reader) part(p syntax.WordPart, quoted bool) []word {
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
			list = product(list, r.part(in, true))
		}
		return list
	case *syntax.ParamExp:
		return r.param(p)
	case *syntax.CmdSubst:
		dir := r.dir
		out := r.stmts(p.Stmts, stream{})
		r.dir = dir
		if quoted && out.known {
			return []word{{text: strings.TrimRight(out.text, "\n")}}
		}
		if len(out.words) > 0 {
			return out.words
		}
	case *syntax.ProcSubst:
		return []word{r.procSubst(p)}
	case *syntax.BraceExp:
		return r.braces(p)
	case *syntax.ExtGlob:
		return []word{{text: "*", glob: true}}
	}
	return []word{unknown}
}

// procSubst returns the file with the output of a process substitution.
func (r *reader) procSubst(p *syntax.ProcSubst) word {
	out := r.stmts(p.Stmts, stream{})
	if !out.known || p.Op != syntax.CmdIn {
		return unknown
	}
	name := "/dev/fd/" + strconv.Itoa(len(r.wrote))
	r.wrote[name] = out.text
	return word{text: name}
}

// braces returns the expansion of {a,b}; {1..9} is not expanded.
func (r *reader) braces(p *syntax.BraceExp) []word {
	if p.Sequence {
		return []word{unknown}
	}
	var out []word
	for _, w := range p.Elems {
		list := r.fields(w)
		out = append(out, list[:min(len(list), maxWords-len(out))]...)
	}
	return out
}

// param returns the values of a variable.
func (r *reader) param(p *syntax.ParamExp) []word {
	if p.Param == nil || p.Length || p.Repl != nil || p.Slice != nil || p.Excl {
		return []word{unknown}
	}
	name := p.Param.Value
	if list, ok := r.vars[name]; ok && (p.Exp == nil || defaults(p.Exp.Op)) {
		return list
	}
	switch {
	case name == "HOME":
		return []word{{text: r.home}}
	case name == "PWD":
		return []word{{text: r.dir}}
	case name == "TMPDIR":
		return []word{{text: "/tmp"}}
	case p.Exp != nil && p.Exp.Word != nil && defaults(p.Exp.Op):
		return r.fields(p.Exp.Word)
	}
	return []word{unknown}
}

func defaults(op syntax.ParExpOperator) bool {
	return op == syntax.DefaultUnset || op == syntax.DefaultUnsetOrNull || op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull
}

// printed returns the output of a command, as far as it follows from its arguments.
func printed(c command) stream {
	switch c.name {
	case "echo", "printf":
		return echoed(c)
	case "cat", "tac", "sort", "uniq", "head", "tail", "tr", "cut", "tee":
		if rest := operands(c.args); len(rest) == 1 && rest[0].text == "/dev/null" {
			return stream{known: true}
		}
		if len(operands(c.args)) == 0 || c.name != "cat" {
			return stream{words: c.in.words, text: c.in.text, known: c.in.known && c.name == "cat"}
		}
		return stream{words: []word{unknown}}
	case "grep", "egrep", "rg":
		return grepped(c)
	case "find", "fd":
		return stream{words: found(c)}
	case "ls":
		return stream{words: listed(c)}
	case "git":
		return stream{words: gitListed(c)}
	case "true", ":", "false", "mkdir", "touch", "rm", "mv", "cp":
		return stream{known: true}
	}
	return stream{words: []word{unknown}}
}

// echoed is the output of echo and printf. A format of printf is expanded only as far as texts
// and line ends.
func echoed(c command) stream {
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
			out.words = append(out.words, split(strings.ReplaceAll(w.text, `\n`, "\n"))...)
		}
		parts = append(parts, strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(w.text))
	}
	if c.name == "echo" {
		out.text = strings.Join(parts, " ") + end
		return out
	}
	if len(parts) == 0 {
		return stream{}
	}
	if len(parts) > 1 {
		out.known = false
		return out
	}
	out.text = strings.ReplaceAll(parts[0], "%%", "%")
	return out
}

// grepped is the output of grep: matching input, or the files that it lists.
func grepped(c command) stream {
	rest := operands(c.args)
	if len(rest) == 0 {
		return stream{words: []word{unknown}}
	}
	if len(rest) > 1 || len(c.in.words) == 0 {
		if has(c.args, "-l", "--files-with-matches") || has(c.args, "-L", "") {
			return stream{words: below(rest[1:], c.dir)}
		}
		return stream{words: []word{unknown}}
	}
	re, err := regexp.Compile(strings.ReplaceAll(rest[0].text, `\|`, "|"))
	out := stream{words: append([]word(nil), c.in.words...)}
	if err != nil {
		return out
	}
	for i := range out.words {
		out.words[i].keep = append(append([]filter(nil), out.words[i].keep...), filter{re, has(c.args, "-v", "--invert-match")})
	}
	return out
}

// below turns folders into patterns for everything in them.
func below(list []word, dir string) []word {
	if len(list) == 0 {
		list = []word{{text: "."}}
	}
	out := make([]word, 0, len(list))
	for _, w := range list {
		w.text, w.glob = path.Join(joined(dir, w.text), "**"), true
		out = append(out, w)
	}
	return out
}

// found are the files that find would print.
func found(c command) []word {
	var places []word
	args := c.args
	for len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && args[0].text != "(" && args[0].text != "!" {
		places, args = append(places, args[0]), args[1:]
	}
	out := below(places, c.dir)
	var names []filter
	for i := 0; i+1 < len(args); i++ {
		invert := i > 0 && (args[i-1].text == "!" || args[i-1].text == "-not")
		switch args[i].text {
		case "-name", "-iname":
			names = append(names, filter{globbed(`(^|/)`, args[i+1].text), invert})
		case "-path", "-wholename", "-ipath":
			names = append(names, filter{globbed(`(^|/)`, strings.TrimPrefix(strings.TrimPrefix(args[i+1].text, "."), "/")), invert})
		case "-o", "-or":
			names = nil // alternatives: keep all files, to be safe
			i = len(args)
		}
	}
	for i := range out {
		out[i].keep = append(out[i].keep, names...)
	}
	return out
}

// globbed is a pattern of find as a regular expression for the end of a path.
func globbed(before, pattern string) *regexp.Regexp {
	text := strings.NewReplacer(`\*`, ".*", `\?`, ".", `\[`, "[", `\]`, "]").Replace(regexp.QuoteMeta(pattern))
	re, err := regexp.Compile(before + text + "$")
	if err != nil {
		return regexp.MustCompile("")
	}
	return re
}

func listed(c command) []word {
	rest := operands(c.args)
	if len(rest) == 0 {
		return below(nil, c.dir)
	}
	return rest
}

// gitListed are the files that git would print.
func gitListed(c command) []word {
	g := parseGit(c)
	switch g.sub {
	case "ls-files", "ls-tree":
		if rest := operands(g.args); len(rest) > 0 {
			for i := range rest {
				rest[i].glob = rest[i].glob || strings.ContainsAny(rest[i].text, "*?")
				if strings.HasPrefix(rest[i].text, "*") {
					rest[i].text = "**/" + rest[i].text // git's * matches across folders
				}
			}
			return rest
		}
		return below(nil, g.dir)
	case "diff", "grep", "status", "log", "show":
		return below(nil, g.dir)
	}
	return []word{unknown}
}
