package coverage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"supervise/coverage"
	"supervise/metric"
)

// fuzz reads anything as the named format, from the captured reports of that
// format and the given texts on.
func fuzz(f *testing.F, format string, seeds ...string) {
	var parse func([]byte) (coverage.Report, error)
	for _, known := range coverage.Formats() {
		if known.Name == format {
			parse = func(text []byte) (coverage.Report, error) { return known.Parse(bytes.NewReader(text)) }
		}
	}
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	for _, path := range captured(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if r, _ := coverage.Read(bytes.NewReader(text), path); r.Format == format {
			f.Add(text[:min(len(text), 4096)])
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		checkSane(t, r, err)
	})
}

// checkSane asserts what holds for every report, however damaged.
func checkSane(t *testing.T, r coverage.Report, err error) {
	t.Helper()
	var syntax *coverage.SyntaxError
	if err != nil && !errors.As(err, &syntax) && !errors.Is(err, coverage.ErrEmpty) && !errors.Is(err, coverage.ErrUnknownFormat) {
		t.Errorf("error %v has no type", err)
	}
	if err == nil && r.Coverage == nil {
		t.Error("nothing was read, and no error")
	}
	if r.Coverage != nil {
		checkCoverage(t, r.Coverage)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("the report cannot be written: %v", err)
	}
}

func checkCoverage(t *testing.T, c *metric.Coverage) {
	t.Helper()
	checkRatio(t, &metric.Ratio{Covered: c.Covered, Total: c.Total})
	checkRatio(t, c.Branches)
	var covered, total int64
	for i, f := range c.Files {
		covered += f.Covered
		total += f.Total
		if !utf8.ValidString(f.Path) || strings.ContainsRune(f.Path, 0x1b) {
			t.Errorf("path %q cannot be shown", f.Path)
		}
		if i > 0 && c.Files[i-1].Path == f.Path && c.Format != "go" {
			t.Errorf("%s is listed twice", f.Path)
		}
		checkRatio(t, &metric.Ratio{Covered: f.Covered, Total: f.Total})
		checkRatio(t, f.Branches)
		checkSpans(t, f)
	}
	if covered != c.Covered || total != c.Total {
		t.Errorf("the files have %d of %d, the report %d of %d", covered, total, c.Covered, c.Total)
	}
}

func checkRatio(t *testing.T, r *metric.Ratio) {
	t.Helper()
	if r != nil && (r.Covered < 0 || r.Covered > r.Total) {
		t.Errorf("%d of %d cannot be", r.Covered, r.Total)
	}
}

// checkSpans asserts that lines are in order, and each either hit or missed.
func checkSpans(t *testing.T, f metric.FileCoverage) {
	t.Helper()
	for _, list := range [][]metric.Span{f.Hit, f.Missed} {
		last := -1
		for _, s := range list {
			if s.First < 1 || s.Last < s.First || s.First <= last+1 {
				t.Fatalf("%s: lines %v", f.Path, list)
			}
			last = s.Last
		}
	}
	missed := f.Missed
	for _, h := range f.Hit {
		for len(missed) > 0 && missed[0].Last < h.First {
			missed = missed[1:]
		}
		if len(missed) > 0 && missed[0].First <= h.Last {
			t.Fatalf("%s: lines %v are hit and missed", f.Path, missed[0])
		}
	}
}

// FuzzDetect reads anything as whatever it looks like.
func FuzzDetect(f *testing.F) {
	for _, path := range captured(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 1024)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := coverage.Read(bytes.NewReader(text), "fuzz")
		checkSane(t, r, err)
	})
}

func FuzzGoProfile(f *testing.F) {
	fuzz(f, "go", two+two+"p/a.go:1.1,2.2 9 1\nx:0.0,0.0 0 0\n\xf1:1.1,1.1 1 1\n")
}

func FuzzLCOV(f *testing.F) {
	fuzz(f, "lcov", "TN:\nSF:a\nDA:1,1,x\nDA:9,-\nBRDA:1,0,jump, to,-\nBRDA:99999999999,e0,1,1\nLF:3\nend_of_record\nSF:b\nend_of_record\nSF:a\nDA:1,0\nDA:3,1e3\nend_of_record\n")
}

func FuzzCobertura(f *testing.F) {
	fuzz(f, "cobertura", `<coverage lines-valid="2"><sources><source>/s</source></sources><packages><package><classes>
<class filename="a"><methods><method><lines><line number="1" hits="1"/></lines></method></methods></class>
<class filename="a"><lines><line number="2" hits="0" condition-coverage="50% (1/2)"/><line number="1" hits="1.5"/></lines></class>
</classes></package></packages></coverage>`)
}

func FuzzJaCoCo(f *testing.F) {
	fuzz(f, "jacoco", `<report><group name="g"><package name="p"><class name="p/A" sourcefilename="A.java">
<counter type="LINE" missed="1" covered="2"/></class></package></group><group name="h"><package name="p">
<sourcefile name="A.java"><line nr="1" mi="0" ci="2" mb="1" cb="1"/><counter type="LINE" missed="0" covered="1"/></sourcefile>
</package></group><counter type="LINE" missed="1" covered="3"/></report>`)
}

func FuzzClover(f *testing.F) {
	fuzz(f, "clover", `<coverage clover="4"><project><metrics statements="2" coveredstatements="1"/><package name="a.b"><file name="c">
<line num="1" type="stmt" count="1"/><line num="1" type="cond" truecount="1" falsecount="0"/><line num="1" type="stmt" count="0"/>
</file></package></project><testproject><file name="t"/></testproject></coverage>`)
}

func FuzzOpenCover(f *testing.F) {
	fuzz(f, "opencover", `<CoverageSession><Summary numSequencePoints="1"/><Modules><Module><Files><File uid="1" fullPath="C:\a.cs"/></Files>
<Classes><Class><FullName>A</FullName><Methods><Method><Name>m</Name><FileRef uid="1"/><SequencePoints>
<SequencePoint vc="1" sl="1" sc="2" el="1" ec="3" fileid="1"/><SequencePoint/></SequencePoints>
<BranchPoints><BranchPoint vc="0" sl="1" offset="3" path="0"/></BranchPoints></Method></Methods></Class></Classes></Module></Modules></CoverageSession>`)
}

func FuzzDotCover(f *testing.F) {
	fuzz(f, "dotcover", `{"DotCoverVersion":"1","Kind":"Root","CoveredStatements":1,"TotalStatements":3,"Children":[{"Kind":"Assembly","Name":"a","CoveredStatements":1,"TotalStatements":3}]}`,
		`<Root DotCoverVersion="1" CoveredStatements="1" TotalStatements="2"><FileIndices><File Index="1" Name="a.cs"/></FileIndices><Assembly Name="a" CoveredStatements="1" TotalStatements="2"><Type Name="T" CoveredStatements="1" TotalStatements="2">
<Statement FileIndex="1" Line="1" Column="2" EndLine="1" EndColumn="3" Covered="True"/><Type Name="U"/></Type></Assembly></Root>`)
}

func FuzzIstanbul(f *testing.F) {
	fuzz(f, "istanbul", `{"/a.js":{"path":"/a.js","statementMap":{"0":{"start":{"line":1}},"1":{"start":{"line":0}}},"s":{"0":1,"1":0},
"branchMap":{"0":{"line":1}},"b":{"0":[1,0]}},"/b.js":{"data":{"path":"/b.js","statementMap":{},"s":{}}}}`)
}

func FuzzIstanbulSummary(f *testing.F) {
	fuzz(f, "istanbul-summary", `{"total":{"lines":{"total":1,"covered":0,"pct":"Unknown"}},
"/a":{"lines":{"total":2,"covered":1},"branches":{"total":2,"covered":1}},"/a":{"lines":{"total":3,"covered":1}}}`)
}

func FuzzCoveragePy(f *testing.F) {
	fuzz(f, "coverage.py", `{"meta":{"branch_coverage":true},"files":{"a.py":{"executed_lines":[1,3],"missing_lines":[2],
"executed_branches":[[1,-1]],"missing_branches":[[1,2]]}},"totals":{"covered_lines":2,"num_statements":4}}`)
}

func FuzzLLVM(f *testing.F) {
	fuzz(f, "llvm-cov", `{"data":[{"files":[{"filename":"a.c","segments":[[1,1,3,true,true,false],[3,1,0,true,true],[5,2,0,false,false,false]],
"summary":{"lines":{"count":5,"covered":3},"branches":{"count":2,"covered":1}}}],"totals":{"lines":{"count":5,"covered":3}}}]}`)
}

func FuzzGcov(f *testing.F) {
	fuzz(f, "gcov", `{"files":[{"file":"a.c","lines":[{"line_number":1,"count":1,"function_name":"f","branches":[{"count":0},{"count":1}]},
{"line_number":1,"count":0,"function_name":"g"},{"line_number":2,"count":0,"gcovr/excluded":true}]}]}`)
}

func FuzzGcovText(f *testing.F) {
	fuzz(f, "gcov-text", "        -:    0:Source:a.c\n        -:    1:x\n       1*:    2:y\nbranch  0 taken 50% (fallthrough)\nbranch  1 never executed\n    #####:    3:z\n    $$$$$:    3-block  0\n     1.2k:    4:z\n")
}

func FuzzSimpleCov(f *testing.F) {
	fuzz(f, "simplecov", `{"a":{"coverage":{"/a.rb":{"lines":[1,null,0,"ignored"],"branches":{"[:if, 0, 1, 2, 3, 4]":{"[:then, 1, 1]":1,"[:else, 2, 2]":0}}},
"/b.rb":[0,1]}},"b":{"coverage":{"/a.rb":{"lines":[0,0,null,0,5]}}}}`,
		`{"meta":{"simplecov_version":"1"},"coverage":{"/a.rb":{"lines":[1,0],"branches":[{"type":"then","start_line":1,"coverage":0},{"coverage":"ignored"}]}}}`)
}

func FuzzGcovrSummary(f *testing.F) {
	fuzz(f, "gcovr-summary", `{"files":[{"filename":"a","line_total":3,"line_covered":1,"branch_total":2,"branch_covered":1},{"filename":"a","line_total":4}],"line_total":7,"branch_covered":null}`)
}

func FuzzSonar(f *testing.F) {
	fuzz(f, "sonarqube", `<coverage version="1"><file path="a"><lineToCover lineNumber="1" covered="true" branchesToCover="2" coveredBranches="1"/><lineToCover lineNumber="1" covered="false"/></file></coverage>`)
}

func FuzzCoverlet(f *testing.F) {
	fuzz(f, "coverlet", `{"m.dll":{"a.cs":{"A":{"F":{"Lines":{"1":1,"0":0},"Branches":[{"Line":1,"Offset":3,"Path":0,"Hits":1},{"Line":-1,"Offset":3,"Path":0,"Hits":1}]}}}}}`)
}
