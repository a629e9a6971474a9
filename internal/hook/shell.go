package hook

import (
	"path"
	"strings"

	"supervise/internal/shell"

	"mvdan.cc/sh/v3/syntax"
)

// command is one program that a shell would start, as far as this is known without running
// anything.
type command struct {
	name string // the base name of the program
	args []word
	dir  string   // the folder that it would run in, absolute
	set  []string // variables that are set only for it: NAME=value
	in   stream   // its standard input
	// script is the text of the script that an interpreter runs, if the agent wrote its file;
	// else "".
	script string
}

// word is one argument or file name after expansion.
type word struct {
	text string
	glob bool // the text is a pattern that the shell expands to file names
	// unknown reports whether a part of the word is not known. That part is a * in the text.
	unknown bool
	filters []nameFilter // if the text is a pattern: filters for the files that it matches
}

// stream is the output of a command. If known is false, the text is incomplete, and words are
// what can be said about the output.
type stream struct {
	words []word
	text  string
	known bool
}

// redirect is a file that the output of a command is written to.
type redirect struct {
	target word   // the file
	dir    string // the current folder, absolute
	append bool   // the output is appended to the file
	out    stream // the output
}

// script lists what a command line would do.
type script struct {
	commands  []command
	redirects []redirect
	unparsed  bool // the command line is not valid shell, so commands are a guess
}

// shellReader interprets a command line without running it.
type shellReader struct {
	environment
	writtenFiles map[string]string // texts of files that the command line wrote, by absolute path
	vars         map[string][]word // values of variables, by name
	scriptName   []word            // the value of $0; nil in the command line itself
	scriptArgs   []word            // the values of $1 and so on; nil in the command line itself
	depth        int               // depth of nested texts and programs
	nestedShells int               // number of nested texts that were read
	nestedBytes  int               // size of these texts
	script       *script           // the result
}

// The limits of reading: depth, number and bytes of nested shells, and the length of an expanded
// text. Scripts can start themselves.
const (
	maxDepth        = 8
	maxNestedShells = 1000
	maxNestedBytes  = 1 << 20
	maxLength       = 256 << 10
)

// environment describes where a command line would run.
type environment struct {
	dir, home, root string                          // absolute: the current folder, the user's home, the root of the tree
	scripts         func(abs string) (string, bool) // returns the text of a script that the agent wrote
}

// readShell returns what a command line would do in an environment.
func readShell(text string, env environment) script {
	r := &shellReader{environment: env, writtenFiles: map[string]string{}, vars: map[string][]word{}, script: &script{}}
	r.readText(text)
	return *r.script
}

// readText reads a text as a script and returns its output. It returns an empty output beyond the
// limits of reading.
func (r *shellReader) readText(text string) stream {
	if r.depth++; r.depth > 1 {
		r.nestedShells, r.nestedBytes = r.nestedShells+1, r.nestedBytes+len(text)
	}
	defer func() { r.depth-- }()
	if r.depth > maxDepth || r.nestedShells > maxNestedShells || r.nestedBytes > maxNestedBytes {
		return stream{}
	}
	list, err := shell.Parse(text)
	if err != nil {
		return r.readPlainWords(text)
	}
	return r.readStatements(list, stream{})
}

// readPlainWords reads a text that is not valid shell, as commands separated by usual separators.
func (r *shellReader) readPlainWords(text string) stream {
	r.script.unparsed = true
	for _, words := range shell.SplitUnknown(text) {
		var list []word
		for _, w := range words {
			list = append(list, word{text: w, glob: strings.ContainsAny(w, "*?[")})
		}
		r.runProgram(list, nil, stream{})
	}
	return stream{}
}

// readStatements reads statements with the same input and returns their output.
func (r *shellReader) readStatements(list []*syntax.Stmt, in stream) stream {
	out := stream{known: true}
	for _, s := range list {
		out = joinStreams(out, r.readStatement(s, in))
	}
	return out
}

// joinStreams returns the output of a followed by that of b, or an unknown output if that is too
// long.
func joinStreams(a, b stream) stream {
	if len(a.text)+len(b.text) > maxLength || len(a.words)+len(b.words) > maxLength {
		return unknownStream
	}
	return stream{append(a.words, b.words...), a.text + b.text, a.known && b.known}
}

// readStatement reads one statement with its redirections and returns its output.
func (r *shellReader) readStatement(s *syntax.Stmt, in stream) stream {
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = literalStream(r.expandToOne(d.Hdoc))
		case syntax.WordHdoc:
			in = literalStream(r.expandToOne(d.Word))
		case syntax.RdrIn:
			in = r.readInput(d.Word)
		default:
		}
	}

	out := r.readCommand(s.Cmd, in)
	for _, d := range s.Redirs {
		r.readRedirect(d, out)
	}
	return out
}

// readInput returns the text that a command reads from a file or a process substitution.
func (r *shellReader) readInput(w *syntax.Word) stream {
	if p, ok := w.Parts[0].(*syntax.ProcSubst); ok && len(w.Parts) == 1 {
		return r.readStatements(p.Stmts, stream{})
	}
	name := r.expandToOne(w)
	if name.text == "/dev/null" {
		return stream{known: true}
	}
	text, ok := r.scriptFile(name)
	return stream{words: splitWords(text), text: text, known: ok}
}

// literalStream returns the output of a command that prints a word and the end of a line.
func literalStream(w word) stream {
	return stream{words: splitWords(w.text), text: w.text + "\n", known: !w.unknown}
}

// splitWords splits a text into words at white space.
func splitWords(text string) []word {
	var out []word
	for f := range strings.FieldsSeq(text) {
		out = append(out, word{text: f})
	}
	return out
}

// readRedirect records the files that a redirection writes to.
func (r *shellReader) readRedirect(d *syntax.Redirect, out stream) {
	switch d.Op {
	case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.AppOut, syntax.AppAll, syntax.RdrInOut:
	default:
		return
	}
	if d.N != nil && d.N.Value != "1" {
		out = stream{} // another output, such as standard error
	}
	for _, w := range r.expandWord(d.Word) {
		r.recordWrite(w, out, d.Op == syntax.AppOut || d.Op == syntax.AppAll)
		r.script.redirects = append(r.script.redirects, redirect{w, r.dir, d.Op == syntax.AppOut || d.Op == syntax.AppAll, out})
	}
}

// readCommand reads the command of a statement and returns its output.
func (r *shellReader) readCommand(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case nil:
		return stream{known: true}
	case *syntax.CallExpr:
		set := r.assignVariables(c.Assigns) // as in X=1 make test
		return r.runProgram(r.expandArguments(c.Args), set, in)
	case *syntax.BinaryCmd:
		first := r.readStatement(c.X, in)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return r.readStatement(c.Y, first)
		}
		return joinStreams(first, r.readStatement(c.Y, in))
	case *syntax.Subshell:
		dir := r.dir
		out := r.readStatements(c.Stmts, in)
		r.dir = dir
		return out
	case *syntax.Block:
		return r.readStatements(c.Stmts, in)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return stream{}
		}
		return r.readStatement(c.Stmt, in)
	case *syntax.DeclClause:
		r.assignVariables(c.Args)
		return stream{known: true}
	}
	return r.readCompound(c, in)
}

// readCompound reads a command that contains others, which may or may not run. It reads all of
// them as if they ran.
func (r *shellReader) readCompound(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case *syntax.IfClause:
		out := stream{known: true}
		for part := c; part != nil; part = part.Else {
			r.readStatements(part.Cond, in)
			out = joinStreams(out, r.readStatements(part.Then, in))
		}
		return unknownText(out)
	case *syntax.WhileClause:
		r.readStatements(c.Cond, in)
		return unknownText(r.readStatements(c.Do, in))
	case *syntax.ForClause:
		if loop, ok := c.Loop.(*syntax.WordIter); ok {
			r.vars[loop.Name.Value] = r.expandArguments(loop.Items)
		}
		return unknownText(r.readStatements(c.Do, in))
	case *syntax.CaseClause:
		for _, item := range c.Items {
			r.readStatements(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		return r.readStatement(c.Body, in)
	case *syntax.CoprocClause:
		return r.readStatement(c.Stmt, in)
	default: // a condition or an arithmetic expression may run commands
		syntax.Walk(c, func(n syntax.Node) bool {
			if s, ok := n.(*syntax.CmdSubst); ok {
				r.readStatements(s.Stmts, stream{})
			}
			return true
		})
	}
	return stream{}
}

// unknownText returns an output whose words are known, but not its text.
func unknownText(s stream) stream { s.known = false; return s }

// assignVariables sets variables, and returns the assignments as NAME=value.
func (r *shellReader) assignVariables(list []*syntax.Assign) []string {
	var out []string
	for _, a := range list {
		if a.Name == nil || a.Naked {
			continue
		}
		var values []word
		switch {
		case a.Value != nil:
			values = r.expandWord(a.Value)
		case a.Array != nil:
			for _, e := range a.Array.Elems {
				values = append(values, r.expandWord(e.Value)...)
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

// runProgram reads one program with its arguments, and returns its output. set are the variables
// that are set only for it, in is its input.
func (r *shellReader) runProgram(list []word, set []string, in stream) stream {
	if len(list) == 0 {
		if len(set) > 0 {
			r.script.commands = append(r.script.commands, command{dir: r.dir, set: set})
		}
		return stream{known: true}
	}

	c := command{name: path.Base(list[0].text), args: list[1:], dir: r.dir, set: set, in: in}
	if handle := builtinHandler(c.name); handle != nil && r.depth < maxDepth {
		r.depth++
		defer func() { r.depth-- }()
		return handle(r, c)
	}

	if r.depth < maxDepth {
		if out, ok := r.runPath(c, list[0]); ok {
			return out
		}
		if out, ok := r.runRunner(c); ok {
			return out
		}
	}

	if c = r.withScript(c); c.name == "tee" {
		for _, w := range operands(c.args) {
			r.recordWrite(w, c.in, hasOption(c.args, "-a --append"))
		}
	}

	r.script.commands = append(r.script.commands, c)
	if out, ok := r.printedPath(c); ok {
		return out
	}
	return printedOutput(c)
}
