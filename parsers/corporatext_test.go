package parsers_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"supervise/parsers"
)

// textClaimed are the formats of the corpus that are read as lint-text. Several
// readers upstream read one log, each its own tool: only names the tool that
// one of them counts, without the tools that it leaves to others.
var textClaimed = map[string]struct {
	only    string
	without []string
}{
	"javac text": {without: []string{"javadoc", "error-prone", "checkstyle"}}, "AntJavacParser": {without: []string{"javadoc", "error-prone"}},
	"JavaDocParser": {only: "javadoc"}, "error-prone text": {only: "error-prone"}, "ld text": {only: "ld"},
	"gcc text": {without: []string{"ld", "javac"}}, "gcc text (old)": {}, "clang text": {}, "GnuFortranParser": {without: []string{"gcc"}},
	"msbuild text": {without: []string{"ld"}}, "NagFortranParser": {}, "DoxygenParser": {}, "EclipseParser": {}, "SphinxBuildParser": {},
	"cpplint text": {}, "flake8 text": {}, "flake8/pep8 text": {}, "pylint text": {}, "mypy text": {}, "PyDocStyleAdapter": {},
	"ansible-lint text": {}, "black text": {}, "codechecker text": {}, "PhpParser": {}, "PerlCriticParser": {},
	"DartAnalyzeParserAdapter": {}, "XmlLintAdapter": {},
}

// textDivergences are the entries where we count otherwise on purpose.
var textDivergences = map[string]struct {
	want   int
	reason string
}{
	"AntJavacParser issue5868.txt":         {2, "a line of Ant and one of Maven: upstream has a reader for each"},
	"javac text issue5868.txt":             {2, "a line of Ant and one of Maven: upstream has a reader for each"},
	"AntJavacParser issue63346.log":        {4, "a log of Maven, which upstream reads with another reader"},
	"javac text maven.3.9.1.log":           {0, "the warning is one of javadoc"},
	"black text black-report.txt":          {4, "upstream counts a file that black has put right"},
	"msbuild text issue20154.txt":          {3, "upstream leaves the warning without a file to another reader"},
	"msbuild text issue56613-extended.txt": {7, "seven lines have the form of MSBuild: origin, category, code and text"},
	"msbuild text issue4932.txt":           {2, "upstream reads the second error of the linker alone"},
	"gcc text issue55221.txt":              {4, "one warning at one place is listed five times, of five files that include it; upstream counts it once per folder"},
	"gcc text (old) issue3897.txt":         {1, "two lines without a level, which upstream's newer reader leaves out as well"},
	"gcc text (old) issue4260.txt":         {0, "a message that a terminal broke behind its place"},
	"DoxygenParser issue64541-doxygen.txt": {2, "progress and message in one line, without anything between them"},
}

// TestLintTextCorpora compares the findings in real logs with what the projects
// they come from assert about them, as [TestLintCorpora] does.
func TestLintTextCorpora(t *testing.T) {
	dir := os.Getenv("SUPERVISE_CORPORA")
	if dir == "" {
		t.Skip("SUPERVISE_CORPORA does not name a folder of reports with known results")
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected-lint.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []lintEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	count, diverging := 0, 0
	for _, e := range entries {
		claim, claimed := textClaimed[e.Format]
		if !claimed {
			continue
		}
		count++
		want, name := *e.Expected.Total, e.Format+" "+filepath.Base(e.Files[0])
		if d, known := textDivergences[name]; known {
			diverging++
			want = d.want
		}
		got, err := countText(filepath.Join(dir, e.Files[0]), claim.only, claim.without)
		if err != nil || got != want {
			t.Errorf("%s: %d findings, error %v; want %d", name, got, err, want)
		}
	}
	t.Logf("%d entries, %d of them listed divergences", count, diverging)
	if count == 0 {
		t.Error("the corpus has no entry of our formats")
	}
}

// countText counts the findings of one tool, or of all without some. A text that
// is like no report holds none.
func countText(path, only string, without []string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := parsers.Parse(f, path)
	if errors.Is(err, parsers.ErrUnknownFormat) {
		return 0, nil
	}
	if err != nil || r.Lint == nil {
		return 0, err
	}
	n := 0
	for _, x := range r.Lint.Findings {
		if (only == "" || only == x.Tool) && !slices.Contains(without, x.Tool) {
			n++
		}
	}
	return n, nil
}
