// Package words_test keeps the words of the glossary (the left column of each row) out of Go
// identifiers, string literals, comments and docs.
package words_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	list   = flag.String("list", "", "print every finding below a `folder` or page, allowed or not")
	update = flag.Bool("shrink", false, "remove from testdata/allowed.txt what has no findings any more")
)

// The groups of text in which words are looked for.
const (
	identifiers = "identifiers"
	literals    = "strings"
	comments    = "comments"
	prose       = "docs"
)

// rule is a row of the glossary.
type rule struct {
	pattern string // what is banned
	better  string
	below   string // the folder that it holds for; "": everywhere
	find    *regexp.Regexp
}

// names are banned identifiers. A pattern matches one word of an identifier, "^…$" a
// complete one.
var names = compile([]rule{
	{`told`, "err, informed", "", nil},
	{`anew`, "uncached, again", "", nil},
	{`aside`, "excluded, brokenAtBaseline", "", nil},
	{`beside`, "clone, alongside", "", nil},
	{`elsewhere`, "inTree", "", nil},
	{`wobbles?`, "variation", "", nil},
	{`crowd|crowded`, "contention", "", nil},
	{`sooner`, "deferred", "", nil},
	{`unheard`, "missingResults", "", nil},
	{`holdout`, "originalTests, hiddenTests", "", nil},
	{`recount`, "remeasure", "", nil},
	{`disguised?`, "concealed", "", nil},
	{`tryout`, "agentCheck", "", nil},
	{`twins`, "hardlinks", "", nil},
	{`surroundings`, "environment", "", nil},
	{`standings?`, "rank, ranking", "", nil},
	{`leaning|leans`, "dependencies, dependsOn", "", nil},
	{`attendance`, "sessionOptions", "", nil},
	{`aftermath`, "resumeReport", "", nil},
	{`mend|mends|mended`, "fix", "", nil},
	{`^(Standin|StandIn|standin|standIn)$`, "stub", "", nil},
	{`^(TakeOver|takeOver)$`, "Import", "", nil},
	{`^(Power|power)$`, "MutationResult, mutationCheck", "", nil},
	{`^(leftout|leftOut)$`, "excludedFiles", "", nil},
	{`^gained$`, "newFiles", "", nil},
	{`^attend$`, "session", "", nil},
	{`^(Whole|whole)$`, "FullRun, run, intact", "", nil},
	{`^course$`, "trajectory", "detector", nil},
	{`^(Otherwise|otherwise)$`, "TestOnly", "detector", nil},
	{`^(Held|Broke)$`, "Passed, Failed", "detector", nil},
	{`^Between$`, "CompareTests", "detector", nil},
	{`^(Place|place)$`, "DependencyResult", "detector", nil},
	{`^(Slip|slip)$`, "Violation", "", nil},
	{`^rest$`, "quotaWait", "internal/agentrun", nil},
	{`^like$`, "copyRepoState", "internal/checkout", nil},
	{`^place$`, "workspace", "cmd", nil},
	{`^(alone|spare|stands|implied|lanes|later|Later)$`, "the right column of the glossary", "internal/measure", nil},
	{`^(Here|pushed|stored|working|hear|together|perRun)$`, "the right column of the glossary", "fleet", nil},
})

// phrases are banned in literals, comments and docs.
var phrases = compile([]rule{
	{`told`, "informed, reported, detected from", "", nil},
	{`tells? \w+ apart`, "distinguishes", "", nil},
	{`it is said`, "a note says", "", nil},
	{`anew`, "again, regenerated", "", nil},
	{`once more`, "again", "", nil},
	{`beside`, "in addition to, alongside, next to", "", nil},
	{`elsewhere`, "in another tree, on another machine", "", nil},
	{`set aside|sets aside|(?:put|is|are|left|it) aside`, "excluded, broken at baseline", "", nil},
	{`gave way|gives way`, "was weakened", "", nil},
	{`wobbles?|wobbled|wobbling`, "vary between runs", "", nil},
	{`by hand`, "manually", "", nil},
	{`held against`, "compared with", "", nil},
	{`puts? back|putting back|gives? back|gave back`, "restore, return", "", nil},
	{`leans? on|leaned on|rests? on`, "depends on, is based on", "", nil},
	{`of its own`, "separate, its own", "", nil},
	{`in turn`, "one after another, round-robin", "", nil},
	{`known by heart`, "hard-coded", "", nil},
	{`last words`, "last output", "", nil},
	{`as grave as|graver|gravest`, "at least as severe as", "", nil},
	{`stands? in`, "is in", "", nil},
	{`mends?|mended`, "fix", "", nil},
	{`tests? (?:that )?notices? less`, "kill fewer mutants", "", nil},
	{`mutants die`, "mutants are killed", "", nil},
	{`around the tree`, "in the environment outside the tree", "", nil},
	{`not there any more`, "missing", "", nil},
	{`on the way`, "intermediate", "", nil},
	{`if that is meant`, "if intended", "", nil},
	{`if it is not said`, "by default", "", nil},
	{`whoever|nobody|somebody|anybody`, "name the actor: caller, user, process", "", nil},
	{`goes on|go on|went on`, "continue", "", nil},
	{`begun`, "started", "", nil},
	{`comes? to`, "reach, produce", "", nil},
	{`rooms?`, "package, subpackage", "", nil},
	{`house`, "codebase", "", nil},
	{`hold-?outs?`, "original tests, hidden tests", "", nil},
	{`in disguise|disguised?`, "concealed", "", nil},
})

// anyPhrase matches a text in which one of the phrases occurs. Most texts have none.
var anyPhrase = regexp.MustCompile(`(?i)\b(?:` + strings.Join(patterns(phrases), "|") + `)\b`)

func patterns(rules []rule) []string {
	var all []string
	for _, r := range rules {
		all = append(all, strings.ReplaceAll(r.pattern, " ", gap))
	}
	return all
}

// gap is the space between two words of a phrase, which may be at the end of a line.
const gap = `\s+(?://\s*)?`

func compile(rules []rule) []rule {
	for i, r := range rules {
		if strings.HasPrefix(r.pattern, "^") {
			rules[i].find = regexp.MustCompile(r.pattern)
			continue
		}
		rules[i].find = regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(r.pattern, " ", gap) + `)\b`)
	}
	return rules
}

// finding is one use of a banned word.
type finding struct{ at, word, better string }

func (f finding) String() string { return fmt.Sprintf("%s: %q: write %s", f.at, f.word, f.better) }

// scan collects findings by "FOLDER GROUP", or "PAGE docs".
type scan struct {
	root  string
	found map[string][]finding
}

const allowedPath = "testdata/allowed.txt"

// Each line of testdata/allowed.txt is a package or page that still has findings in a
// group of text. The list only shrinks.
func TestWords(t *testing.T) {
	s := scan{root: filepath.Join("..", ".."), found: map[string][]finding{}}
	if err := s.all(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(allowedPath)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		allowed[strings.TrimSpace(line)] = true
	}
	for _, unit := range slices.Sorted(maps.Keys(s.found)) {
		if *list != "" && strings.HasPrefix(unit, *list) {
			for _, f := range s.found[unit] {
				fmt.Println(f)
			}
		}
		if allowed[unit] {
			continue
		}
		t.Run(unit, func(t *testing.T) {
			folder, _, _ := strings.Cut(unit, " ")
			for _, f := range s.found[unit] {
				t.Error(f)
			}
			t.Logf("for this alone: go test -v ./test/words -args -list %s", folder)
		})
	}
	var left []string
	for unit := range allowed {
		if len(s.found[unit]) > 0 {
			left = append(left, unit)
		} else if !*update {
			t.Errorf("%s has no findings any more: remove it from test/words/%s, or run go test ./test/words -args -shrink", unit, allowedPath)
		}
	}
	if *update {
		slices.Sort(left)
		if err := os.WriteFile(allowedPath, []byte(strings.Join(left, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// all scans the Go files and pages of the repository.
func (s *scan) all() error {
	return filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(s.root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "results" || rel == "test/words" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case strings.HasSuffix(rel, ".go"):
			return s.goFile(path, rel)
		case strings.HasPrefix(rel, "docs/") && strings.HasSuffix(rel, ".md"), rel == "README.md", rel == "CONTRIBUTING.md":
			return s.page(path, rel)
		}
		return nil
	})
}

func (s *scan) page(path, rel string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		s.phrases(rel+" "+prose, rel, fmt.Sprintf("%s:%d", rel, n), line)
	}
	return nil
}

// phrases looks for banned phrases in a text.
func (s *scan) phrases(unit, rel, at, text string) {
	if !anyPhrase.MatchString(text) {
		return
	}
	for _, r := range phrases {
		for _, m := range r.find.FindAllString(text, -1) {
			s.add(unit, rel, at, m, r)
		}
	}
}

func (s *scan) add(unit, rel, at, word string, r rule) {
	if strings.HasPrefix(rel, r.below) {
		s.found[unit] = append(s.found[unit], finding{at, word, r.better})
	}
}

func (s *scan) goFile(path, rel string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folder := filepath.ToSlash(filepath.Dir(rel))
	at := func(pos token.Pos) string { return fmt.Sprintf("%s:%d", rel, files.Position(pos).Line) }
	for _, group := range f.Comments {
		for _, c := range group.List {
			s.phrases(folder+" "+comments, rel, at(c.Pos()), c.Text)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING && !strings.HasSuffix(rel, "_test.go") {
				if text, err := strconv.Unquote(n.Value); err == nil {
					s.phrases(folder+" "+literals, rel, at(n.Pos()), text)
				}
			}
		}
		for _, id := range declared(n) {
			words := camel.ReplaceAllString(id.Name, "$1 $2")
			for _, r := range names {
				subject := words
				if strings.HasPrefix(r.pattern, "^") {
					subject = id.Name
				}
				if r.find.MatchString(subject) {
					s.add(folder+" "+identifiers, rel, at(id.Pos()), id.Name, r)
				}
			}
		}
		return true
	})
	return nil
}

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// declared are the identifiers that a node declares.
func declared(n ast.Node) (out []*ast.Ident) {
	expressions := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				out = append(out, id)
			}
		}
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		out = append(out, n.Name)
	case *ast.TypeSpec:
		out = append(out, n.Name)
	case *ast.ValueSpec:
		out = append(out, n.Names...)
	case *ast.Field:
		out = append(out, n.Names...)
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			expressions(n.Lhs...)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			expressions(n.Key, n.Value)
		}
	}
	return out
}
