package gocode

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"supervise/internal/regexp"
	"supervise/source/internal/tests"
)

// goTests finds the tests of one Go test file.
type goTests struct {
	*goFile
	imports       map[string]bool   // names by which the file refers to imported packages
	declared      map[string]bool   // names that the file itself declares
	usesSuites    bool              // the file imports testify suites
	suites        map[string]string // by type of a suite: the function that runs it
	neverBuilt    bool              // the build constraint is never met
	platformOnly  bool              // the file is built only for some platforms
	subtestCounts map[string]int    // number of subtests by name, to number repeated names
	found         []tests.TestDef
}

// newGoTests reads the imports, declarations and build constraints of a test file.
func newGoTests(g *goFile) *goTests {
	t := &goTests{
		goFile: g, imports: map[string]bool{}, declared: map[string]bool{},
		suites: map[string]string{}, subtestCounts: map[string]int{},
	}
	for _, spec := range g.ast.Imports {
		file, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		t.imports[importName(spec, file)] = true
		t.usesSuites = t.usesSuites || strings.HasSuffix(file, "testify/suite")
	}
	t.neverBuilt, t.platformOnly = g.buildConstraints()
	t.readDeclarations()
	return t
}

// importName returns the name by which a file refers to an import: its alias, or a name derived
// from the import path. example.org/go-yaml/v3 is yaml.
func importName(spec *ast.ImportSpec, file string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	base := path.Base(file)
	if version := strings.TrimLeft(base, "v"); version != base && strings.Trim(version, "0123456789") == "" {
		base = path.Base(path.Dir(file))
	}
	base, _, _ = strings.Cut(base, ".")
	return strings.TrimPrefix(base, "go-")
}

// readDeclarations records the names that the file declares, and which function runs which
// suite.
func (t *goTests) readDeclarations() {
	for _, decl := range t.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				t.declared[d.Name.Name] = true
				t.recordSuiteRunner(d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					t.declared[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range s.Names {
						t.declared[name.Name] = true
					}
				}
			}
		}
	}
}

// recordSuiteRunner records the suite that a function runs, as in suite.Run(t, new(S)) and
// suite.Run(t, &S{…}).
func (t *goTests) recordSuiteRunner(d *ast.FuncDecl) {
	if !t.usesSuites || d.Body == nil {
		return
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 || t.text(call.Fun) != "suite.Run" {
			return true
		}

		arg := call.Args[1]
		if made, ok := arg.(*ast.CallExpr); ok && t.text(made.Fun) == "new" && len(made.Args) == 1 {
			arg = made.Args[0]
		}
		if addr, ok := arg.(*ast.UnaryExpr); ok {
			arg = addr.X
		}
		if lit, ok := arg.(*ast.CompositeLit); ok {
			arg = lit.Type
		}

		if name, ok := arg.(*ast.Ident); ok {
			t.suites[name.Name] = d.Name.Name
		}
		return true
	})
}

// platformFileRE matches the name of a test file that the go command builds only for some systems
// or processors, as in x_linux_test.go.
var platformFileRE = regexp.MustCompile(`_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|386|amd64|arm|arm64|loong64|mips64?(?:le)?|ppc64(?:le)?|riscv64|s390x|wasm)_test\.go$`)

// buildConstraints reports whether a file is never built, and whether it is built only under
// conditions.
func (g *goFile) buildConstraints() (never, some bool) {
	some = platformFileRE.MatchString(path.Base(g.path))
	for _, group := range g.ast.Comments {
		if group.Pos() >= g.ast.Package {
			break
		}
		for _, c := range group.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			if expr, err := constraint.Parse(c.Text); err == nil {
				some = true
				never = never || isNeverBuilt(expr)
			}
		}
	}
	return never, some
}

// isNeverBuilt reports whether a constraint requires the tag "ignore", which by convention is
// never set.
func isNeverBuilt(e constraint.Expr) bool {
	switch x := e.(type) {
	case *constraint.TagExpr:
		return x.Tag == "ignore"
	case *constraint.AndExpr:
		return isNeverBuilt(x.X) || isNeverBuilt(x.Y)
	case *constraint.OrExpr:
		return isNeverBuilt(x.X) && isNeverBuilt(x.Y)
	}
	return false
}

// collect returns the tests in the order of the file.
func (t *goTests) collect() []tests.TestDef {
	for _, decl := range t.ast.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Body == nil {
			continue
		}
		if d.Recv != nil {
			t.addSuiteMethod(d)
			continue
		}
		if kind, ok := t.kindOf(d); ok {
			t.addTest(goTest{name: d.Name.Name, kind: kind, node: d, typ: d.Type, body: d.Body})
		}
	}
	return t.found
}

// testRunners are the functions that go test runs, by prefix and by the type of their
// parameter in package testing.
var testRunners = []struct {
	prefix, param string
	kind          tests.TestKind
}{
	{"Test", "T", tests.Test},
	{"Benchmark", "B", tests.Benchmark},
	{"Fuzz", "F", tests.Fuzz},
}

// kindOf returns how go test runs a function. It returns false if go test does not run it.
func (t *goTests) kindOf(d *ast.FuncDecl) (tests.TestKind, bool) {
	if d.Type.TypeParams != nil || d.Type.Results.NumFields() > 0 {
		return 0, false
	}
	for _, r := range testRunners {
		if isTestName(d.Name.Name, r.prefix) && d.Type.Params.NumFields() == 1 {
			return r.kind, isPointerTo(d.Type.Params.List[0].Type, r.param)
		}
	}
	if isTestName(d.Name.Name, "Example") && d.Type.Params.NumFields() == 0 {
		return tests.Example, t.output(d.Body) != ""
	}
	return 0, false
}

// isTestName reports whether a name is the prefix alone, or the prefix followed by anything but a
// lower-case letter.
func isTestName(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return false
	}
	first, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLower(first)
}

// isPointerTo reports whether a type is *name or *pkg.name.
func isPointerTo(e ast.Expr, name string) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch x := star.X.(type) {
	case *ast.Ident:
		return x.Name == name
	case *ast.SelectorExpr:
		return x.Sel.Name == name
	}
	return false
}

// outputCommentRE matches the start of the last comment of an example whose output is compared,
// as in "Output: 3". It is that of go/doc.
var outputCommentRE = regexp.MustCompile(`(?i)^[[:space:]]*(unordered )?output:`)

// output returns the last comment of an example if it is an output comment. Without one, go test
// only compiles the example.
func (t *goTests) output(body *ast.BlockStmt) string {
	var last *ast.CommentGroup
	for _, group := range t.ast.Comments {
		if group.Pos() > body.Pos() && group.End() < body.End() {
			last = group
		}
	}
	if last == nil || !outputCommentRE.MatchString(last.Text()) {
		return ""
	}
	return last.Text()
}

// addSuiteMethod adds a test method of a testify suite.
func (t *goTests) addSuiteMethod(d *ast.FuncDecl) {
	if !t.usesSuites || !isTestName(d.Name.Name, "Test") || d.Type.Params.NumFields() > 0 || d.Type.Results.NumFields() > 0 {
		return
	}
	owner := baseName(d.Recv.List[0].Type)
	if runner, ok := t.suites[owner]; ok {
		owner = runner
	}
	test := goTest{name: owner + "/" + d.Name.Name, kind: tests.Test, node: d, typ: d.Type, body: d.Body}
	if names := d.Recv.List[0].Names; len(names) > 0 {
		test.suite = names[0].Name
	}
	t.addTest(test)
}

// goTest is a test, benchmark or subtest that is being read.
type goTest struct {
	name  string
	kind  tests.TestKind
	node  ast.Node       // its lines are those of the test
	typ   *ast.FuncType  // its type; nil if a subtest is not a function literal
	body  *ast.BlockStmt // nil if a subtest is not a function literal
	suite string         // name of the receiver, if it is a method of a suite
	depth int            // number of tests around it
}

// handleName returns the name by which a test reports: that of its *testing.T, or of the receiver
// of its suite. It is "" if there is none.
func (g *goTest) handleName() string {
	if g.suite != "" || g.typ == nil || g.typ.Params.NumFields() != 1 {
		return g.suite
	}
	if names := g.typ.Params.List[0].Names; len(names) > 0 {
		return names[0].Name
	}
	return ""
}

// addTest adds a test, and then its subtests.
func (t *goTests) addTest(g goTest) {
	def := tests.TestDef{
		Name: g.name, Kind: g.kind,
		Line: t.line(g.node.Pos()), End: t.line(g.node.End()),
	}

	if g.body == nil {
		def.Tokens, def.Literals = t.countTokens(g.node.Pos(), g.node.End())
	} else {
		def.Tokens, def.Literals = t.countTokens(g.body.Lbrace+1, g.body.Rbrace)
		t.findSkips(g, &def)
		def.Assertions = t.findAssertions(g)
		if g.kind == tests.Example {
			for word := range strings.FieldsSeq(t.output(g.body)) {
				def.Tokens[word]++
			}
		}
	}

	def.Symbols = t.externalSymbols(g)
	def.Skipped = def.Skipped || t.neverBuilt
	def.SkipConditional = def.SkipConditional || t.platformOnly && !t.neverBuilt

	t.found = append(t.found, def)
	if g.body != nil && g.depth < tests.MaxDepth {
		t.addSubtests(g)
	}
}

// comparingTokens are the operators that characterize a test. With others, all bodies would
// look similar.
var comparingTokens = []token.Token{
	token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR, token.NOT,
}

// countTokens counts the tokens between two positions. It also returns their distinct literals in
// order.
func (t *goTests) countTokens(from, to token.Pos) (map[string]int, []string) {
	src := t.src[t.offset(from):t.offset(to)]
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	counts := map[string]int{}
	var literals []string
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return counts, literals
		case tok.IsLiteral() && tok != token.IDENT:
			if counts[lit] == 0 {
				literals = append(literals, lit)
			}
			counts[lit]++
		case tok == token.IDENT:
			counts[lit]++
		case tok.IsKeyword(), slices.Contains(comparingTokens, tok):
			counts[tok.String()]++
		}
	}
}

// addSubtests adds the subtests of a test, and theirs, if their names are string literals.
func (t *goTests) addSubtests(parent goTest) {
	handle := parent.handleName()
	ast.Inspect(parent.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, fn, ok := parseSubtest(call, handle)
		if !ok {
			return true
		}

		sub := goTest{name: t.uniqueName(parent.name, name), kind: tests.Subtest, node: call, depth: parent.depth + 1}
		if parent.kind == tests.Benchmark {
			sub.kind = tests.Benchmark
		}
		if fn != nil {
			sub.typ, sub.body = fn.Type, fn.Body
			if fn.Type.Params.NumFields() == 0 {
				sub.suite = handle // a func() in a suite reports by the handle of the suite
			}
		}
		t.addTest(sub)
		return fn == nil
	})
}

// parseSubtest reads the call of a subtest, as in t.Run("name", …). The function is nil if it is
// not a literal. It returns false for any other call.
func parseSubtest(call *ast.CallExpr, handle string) (string, *ast.FuncLit, bool) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Run" || len(call.Args) != 2 {
		return "", nil, false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", nil, false
	}
	name, err := strconv.Unquote(lit.Value)
	if err != nil {
		return "", nil, false
	}
	fn, _ := call.Args[1].(*ast.FuncLit)
	recv, ok := sel.X.(*ast.Ident)
	byHandle := ok && recv.Name == handle && handle != ""
	return name, fn, byHandle || fn != nil && takesTest(fn.Type)
}

// takesTest reports whether a function has a *testing.T or *testing.B as its only parameter.
func takesTest(f *ast.FuncType) bool {
	if f.Params.NumFields() != 1 {
		return false
	}
	typ := f.Params.List[0].Type
	return isPointerTo(typ, "T") || isPointerTo(typ, "B")
}

// uniqueName names a subtest as package testing does: spaces become underscores, unprintable
// characters are escaped, and repeated names are numbered.
func (t *goTests) uniqueName(parent, name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte('_')
		case !strconv.IsPrint(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	full := parent + "/" + b.String()
	n := t.subtestCounts[full]
	t.subtestCounts[full]++
	if n == 0 && name != "" {
		return full
	}
	return fmt.Sprintf("%s#%02d", full, n)
}
