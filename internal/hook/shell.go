package hook

import (
	"path"
	"strings"

	"supervise/internal/shell"

	"mvdan.cc/sh/v3/syntax"
)

// command is one program that a shell would start, as far as is known without running
// anything.
type command struct {
	name string // without its folder
	args []word
	dir  string   // where it would run, absolute
	set  []string // variables only for it, NAME=value
	in   stream   // its standard input
	// script is the text of an interpreter's script, from a file that the agent wrote.
	script string
}

// word is one argument or file name.
type word struct {
	text string
	glob bool // a pattern, for the shell
	// unknown reports whether a part is unknown; it is a * in the text.
	unknown bool
	keep    []filter // filters for what a pattern matches
}

// stream is the output of a command: its words, and its text if known.
type stream struct {
	words []word
	text  string
	known bool
}

// redirect is a file that output is written to.
type redirect struct {
	target word
	dir    string
	append bool
	out    stream
}

// script is what a command line would do.
type script struct {
	commands  []command
	redirects []redirect
	unread    bool // it cannot be parsed as shell: commands are a guess
}

// reader interprets a command line without running it.
type reader struct {
	environment
	wrote  map[string]string // texts of files that the command line wrote, by absolute path
	vars   map[string][]word
	funcs  map[string]bool // functions that are being read
	depth  int
	inner  int // nested shells that were read
	bytes  int // their size
	script *script
}

// The limits of reading: depth, number and bytes of nested shells, and the length of an expanded
// text. Scripts can start themselves.
const (
	maxDepth  = 8
	maxInner  = 1000
	maxBytes  = 1 << 20
	maxLength = 256 << 10
)

// environment is where a command line would run.
type environment struct {
	dir, home, root string                          // root is the root of the tree
	scripts         func(abs string) (string, bool) // scripts that the agent wrote
}

// readShell reads a command line.
func readShell(text string, env environment) script {
	r := &reader{environment: env, wrote: map[string]string{}, vars: map[string][]word{}, funcs: map[string]bool{}, script: &script{}}
	r.text(text)
	return *r.script
}

// text reads a text as a script.
func (r *reader) text(text string) stream {
	if r.depth++; r.depth > 1 {
		r.inner, r.bytes = r.inner+1, r.bytes+len(text)
	}
	defer func() { r.depth-- }()
	if r.depth > maxDepth || r.inner > maxInner || r.bytes > maxBytes {
		return stream{}
	}
	list, err := shell.Parse(text)
	if err != nil {
		return r.guess(text)
	}
	return r.stmts(list, stream{})
}

// guess reads what cannot be parsed, word by word.
func (r *reader) guess(text string) stream {
	r.script.unread = true
	for _, words := range shell.SplitUnknown(text) {
		var list []word
		for _, w := range words {
			list = append(list, word{text: w, glob: strings.ContainsAny(w, "*?[")})
		}
		r.run(list, nil, stream{})
	}
	return stream{}
}

func (r *reader) stmts(list []*syntax.Stmt, in stream) stream {
	var out stream
	out.known = true
	for _, s := range list {
		out = joinedStreams(out, r.stmt(s, in))
	}
	return out
}

func joinedStreams(a, b stream) stream {
	if len(a.text)+len(b.text) > maxLength || len(a.words)+len(b.words) > maxLength {
		return stream{words: []word{unknown}}
	}
	return stream{append(a.words, b.words...), a.text + b.text, a.known && b.known}
}

func (r *reader) stmt(s *syntax.Stmt, in stream) stream {
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = literal(r.one(d.Hdoc))
		case syntax.WordHdoc:
			in = literal(r.one(d.Word))
		case syntax.RdrIn:
			in = r.input(d.Word)
		default:
		}
	}
	out := r.command(s.Cmd, in)
	for _, d := range s.Redirs {
		r.redirect(d, out)
	}
	return out
}

// input is what a command reads from a file or a process substitution.
func (r *reader) input(w *syntax.Word) stream {
	if p, ok := w.Parts[0].(*syntax.ProcSubst); ok && len(w.Parts) == 1 {
		return r.stmts(p.Stmts, stream{})
	}
	name := r.one(w)
	if name.text == "/dev/null" {
		return stream{known: true}
	}
	text, ok := r.scriptFile(name)
	return stream{words: split(text), text: text, known: ok}
}

func literal(w word) stream {
	return stream{words: split(w.text), text: w.text + "\n", known: !w.unknown}
}

func split(text string) []word {
	var out []word
	for f := range strings.FieldsSeq(text) {
		out = append(out, word{text: f})
	}
	return out
}

func (r *reader) redirect(d *syntax.Redirect, out stream) {
	switch d.Op {
	case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.AppOut, syntax.AppAll, syntax.RdrInOut:
	default:
		return
	}
	if d.N != nil && d.N.Value != "1" {
		out = stream{} // not its standard output
	}
	for _, w := range r.fields(d.Word) {
		r.write(w, out, d.Op == syntax.AppOut || d.Op == syntax.AppAll)
		r.script.redirects = append(r.script.redirects, redirect{w, r.dir, d.Op == syntax.AppOut || d.Op == syntax.AppAll, out})
	}
}

// command reads the command of a statement.
func (r *reader) command(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case nil:
		return stream{known: true}
	case *syntax.CallExpr:
		return r.call(c, in)
	case *syntax.BinaryCmd:
		first := r.stmt(c.X, in)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return r.stmt(c.Y, first)
		}
		return joinedStreams(first, r.stmt(c.Y, in))
	case *syntax.Subshell:
		dir := r.dir
		out := r.stmts(c.Stmts, in)
		r.dir = dir
		return out
	case *syntax.Block:
		return r.stmts(c.Stmts, in)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return stream{}
		}
		return r.stmt(c.Stmt, in)
	case *syntax.DeclClause:
		r.assign(c.Args)
		return stream{known: true}
	}
	return r.compound(c, in)
}

// compound reads commands that contain others, which may or may not run. All are read as if
// they ran.
func (r *reader) compound(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case *syntax.IfClause:
		out := stream{known: true}
		for part := c; part != nil; part = part.Else {
			r.stmts(part.Cond, in)
			out = joinedStreams(out, r.stmts(part.Then, in))
		}
		return unsure(out)
	case *syntax.WhileClause:
		r.stmts(c.Cond, in)
		return unsure(r.stmts(c.Do, in))
	case *syntax.ForClause:
		if loop, ok := c.Loop.(*syntax.WordIter); ok {
			var items []word
			for _, w := range loop.Items {
				items = append(items, r.expanded(w)...)
			}
			r.vars[loop.Name.Value] = items
		}
		return unsure(r.stmts(c.Do, in))
	case *syntax.CaseClause:
		for _, item := range c.Items {
			r.stmts(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		return r.stmt(c.Body, in)
	case *syntax.CoprocClause:
		return r.stmt(c.Stmt, in)
	default: // a condition, or arithmetic, may run commands for their output
		syntax.Walk(c, func(n syntax.Node) bool {
			if s, ok := n.(*syntax.CmdSubst); ok {
				r.stmts(s.Stmts, stream{})
			}
			return true
		})
	}
	return stream{}
}

func unsure(s stream) stream { s.known = false; return s }

func (r *reader) assign(list []*syntax.Assign) []string {
	var out []string
	for _, a := range list {
		if a.Name == nil || a.Naked {
			continue
		}
		var values []word
		switch {
		case a.Value != nil:
			values = r.fields(a.Value)
		case a.Array != nil:
			for _, e := range a.Array.Elems {
				values = append(values, r.fields(e.Value)...)
			}
		}
		if len(values) == 0 {
			values = []word{{}}
		}
		r.vars[a.Name.Value] = values
		out = append(out, a.Name.Value+"="+values[0].text)
	}
	return out
}

func (r *reader) call(c *syntax.CallExpr, in stream) stream {
	set := r.assign(c.Assigns)
	var list []word
	for _, w := range c.Args {
		list = append(list, r.expanded(w)...)
	}
	return r.run(list, set, in)
}

// run reads one program with its arguments.
func (r *reader) run(list []word, set []string, in stream) stream {
	if len(list) == 0 {
		if len(set) > 0 {
			r.script.commands = append(r.script.commands, command{dir: r.dir, set: set})
		}
		return stream{known: true}
	}
	c := command{name: path.Base(list[0].text), args: list[1:], dir: r.dir, set: set, in: in}
	if handle := handler(c.name); handle != nil && r.depth < maxDepth {
		r.depth++
		defer func() { r.depth-- }()
		return handle(r, c)
	}
	if r.depth < maxDepth {
		if out, ok := r.started(c, list[0]); ok {
			return out
		}
		if out, ok := r.ran(c); ok {
			return out
		}
	}
	if c = r.interpreted(c); c.name == "tee" {
		for _, w := range operands(c.args) {
			r.write(w, c.in, has(c.args, "-a", "--append"))
		}
	}
	r.script.commands = append(r.script.commands, c)
	if out, ok := r.pathPrinted(c); ok {
		return out
	}
	return printed(c)
}
