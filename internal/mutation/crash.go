package mutation

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// crashes are statements that end the function with an error, by language.
var crashes = map[source.Language]string{
	source.Go: `panic(0); `, source.Python: "raise RuntimeError()", source.JavaScript: "throw new Error(); ", source.TypeScript: "throw new Error(); ",
	source.PHP: `throw new \Exception(); `, source.Ruby: "raise; ", source.Java: "if (true) throw new RuntimeException(); ",
	source.CSharp: "throw new System.Exception(); ", source.Kotlin: "throw RuntimeException(); ", source.Rust: "if true { panic!(); } ",
}

// Crash returns a mutant that ends with an error before the statement that starts on a line of a
// function. A test that runs the line fails with it. It is false if no statement starts there, or if
// the language is unknown.
func Crash(path string, src []byte, line int) (Mutant, bool) {
	lang := source.DetectLanguage(path, src[:min(len(src), 512)])
	text, known := crashes[lang]
	file, err := source.Scan(path, src)
	if !known || err != nil || enclosingFunction(file.Functions, line) == "" {
		return Mutant{}, false
	}
	at := textStatementAt(lang, src, line)
	if lang == source.Go {
		at = goStatementAt(src, line)
	}
	if at < 0 {
		return Mutant{}, false
	}
	if lang == source.Python {
		indent := src[1+bytes.LastIndexByte(src[:at], '\n') : at]
		text += "\n" + string(indent)
	}
	return Mutant{File: path, Function: enclosingFunction(file.Functions, line), Line: line, Operator: DropStatement, start: at, end: at, replacement: text}, true
}

// goStatementAt returns the byte at which a statement of a block starts on a line, -1 if none does.
func goStatementAt(src []byte, line int) int {
	fset, at := token.NewFileSet(), -1
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return at
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		for _, s := range list {
			switch s.(type) {
			case *ast.CaseClause, *ast.CommClause:
				continue
			}
			if p := fset.Position(s.Pos()); at < 0 && p.Line == line {
				at = p.Offset
			}
		}
		return true
	})
	return at
}

// noStatementRE matches the start of a line that belongs to a statement before it, or starts none.
var noStatementRE = regexp.MustCompile(`^([\])}.?&|+*/%,:=@#"'` + "`" + `-]|(elif|else|elsif|except|finally|catch|rescue|ensure|case|default|when|end|def|function|fn|fun|class|public|private|protected|static|async function|override)\b)`)

// textStatementAt returns the byte at which a statement starts on a line, -1 if none seems to.
func textStatementAt(lang source.Language, src []byte, line int) int {
	masked := slices.Collect(strings.Lines(string(source.Mask(lang, src))))
	if line < 2 || line > len(masked) {
		return -1
	}
	offset, before := 0, ""
	for _, l := range masked[:line-1] {
		offset += len(l)
		if code := strings.TrimSpace(l); code != "" {
			before = code
		}
	}
	code := strings.TrimSpace(masked[line-1])
	depth := 0
	for _, l := range masked[:line-1] {
		depth = max(0, depth+strings.Count(l, "(")+strings.Count(l, "[")-strings.Count(l, ")")-strings.Count(l, "]"))
	}
	isContinued := endsWithAny(before, continuedEnds+"=") && !strings.HasSuffix(before, "=>") && !strings.HasSuffix(before, "->")
	if s := syntaxes[lang]; s.semicolons && !endsWithAny(before, ";{}:") {
		isContinued = true
	}
	if code == "" || depth > 0 || isContinued || noStatementRE.MatchString(code) {
		return -1
	}
	return offset + strings.Index(masked[line-1], code)
}
