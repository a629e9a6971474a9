package coverage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"supervise/coverage"
)

// shown is a report in short: the sum, then each file with its lines.
func shown(t *testing.T, r coverage.Report) string {
	t.Helper()
	out := []string{summary(r)}
	if r.Coverage == nil {
		return out[0]
	}
	for _, f := range r.Coverage.Files {
		hit, err := json.Marshal(f.Hit)
		if err != nil {
			t.Fatal(err)
		}
		missed, err := json.Marshal(f.Missed)
		if err != nil {
			t.Fatal(err)
		}
		line := f.Path + " +" + string(hit) + " -" + string(missed)
		out = append(out, strings.NewReplacer(`"`, "", "null", "[]").Replace(line))
	}
	return strings.Join(out, "\n")
}

const (
	xmlHead = `<coverage><packages><package><classes>`
	xmlTail = `</classes></package></packages></coverage>`
	ocHead  = `<CoverageSession><Modules><Module><Files><File uid="1" fullPath="C:\a.cs"/></Files><Classes><Class><FullName>A</FullName><Methods><Method><Name>m</Name><FileRef uid="1"/>`
	ocTail  = `</Method></Methods></Class></Classes></Module></Modules></CoverageSession>`
)

var hand = []struct {
	name, report, want string
	problem            string // in one of them; "" for none at all
}{
	{
		"lcov: a file twice is merged line by line", "SF:a\nDA:1,0\nDA:2,1\nBRDA:2,0,0,-\nend_of_record\nSF:b\nDA:9,0\nend_of_record\nSF:a\nDA:1,3\nDA:2,0\nDA:4,0\nBRDA:2,0,0,1\nBRDA:2,0,1,0\nend_of_record\n",
		"2/4 lines, 1/2 branches\na +[1-2] -[4]\nb +[] -[9]", "",
	},
	{
		"lcov: a branch with a count that is no number", "SF:a.vue\nDA:1,3\nDA:2,0\nDA:3,1\nBRDA:1,0,0,3\nBRDA:1,0,1,NaN\nend_of_record\n",
		"2/3 lines, 1/2 branches\na.vue +[1,3] -[2]", `a.vue:1: a branch has the count "NaN"`,
	},
	{
		"lcov: checksums, carriage returns, comments and a path with colons", "# made\r\nTN:\r\nSF:C:\\a:b.c\r\nDA:1,1,abcdef==\r\nDA:2,1e3\r\nDA:3,99999999999999999999999\r\nend_of_record\r\n",
		"3/3 lines\nC:\\a:b.c +[1-3] -[]", "",
	},
	{"lcov: a counter that ran over is no execution", "SF:a\nDA:1,-5\nDA:2,#####\nDA:3,=====\nend_of_record\n", "0/3 lines\na +[] -[1-3]", ""},
	{"lcov: lines in any order, twice", "SF:a\nDA:7,0\nDA:3,0\nDA:7,1\nDA:3,0\nLF:2\nLH:1\nend_of_record\n", "1/2 lines\na +[7] -[3]", ""},
	{"lcov: a summary", "SF:a\nFNF:1\nFNH:1\nBRF:2\nBRH:1\nLF:7\nLH:4\nend_of_record\n", "4/7 lines, 1/2 branches\na +[] -[]", ""},
	{"lcov: a summary that cannot be", "SF:a\nLF:7\nLH:9\nend_of_record\n", "0/0 lines\na +[] -[]", "declares 9 of 7 lines of a, and lists 0 of 0"},
	{"lcov: totals that lie", "SF:a\nDA:1,1\nLF:10\nLH:10\nend_of_record\n", "1/1 lines\na +[1] -[]", "declares 10 of 10 lines of a, and lists 1 of 1"},
	{"lcov: other text", "warning: x\nSF:a\nDA:1,1\nend_of_record\nbye\n", "1/1 lines\na +[1] -[]", "text outside of the report: warning: x"},
	{"lcov: a line of no file", "SF:a\nDA:1,1\nend_of_record\nDA:2,1\n", "1/1 lines\na +[1] -[]", "text outside of the report: DA:2,1"},
	{"lcov: a line 0", "SF:a\nDA:0,1\nDA:1,1\nend_of_record\n", "1/1 lines\na +[1] -[]", "0 is no line"},
	{"lcov: functions of every version, and MC/DC", "SF:a\nFN:1,3,f\nFNL:0,1,3\nFNA:0,1,f\nFNDA:1,f\nMCDC:1,2,t,1,0,x\nDA:1,1\nend_of_record\n", "1/1 lines\na +[1] -[]", ""},
	{
		"cobertura: partial classes and generic methods", xmlHead +
			`<class filename="a.cs"><lines><line number="1" hits="0" condition-coverage="0% (0/2)"/><line number="2" hits="1"/></lines></class>` +
			`<class filename="b.cs"><lines><line number="1" hits="0"/></lines></class>` +
			`<class filename="a.cs"><lines><line number="1" hits="4" condition-coverage="50% (1/2)"/><line number="8" hits="0"/></lines></class>` + xmlTail,
		"2/4 lines, 1/2 branches\na.cs +[1-2] -[8]\nb.cs +[] -[1]", "",
	},
	{
		"cobertura: lines of methods count only where the class has none", xmlHead +
			`<class filename="a"><methods><method><lines><line number="1" hits="1"/></lines></method></methods><lines><line number="2" hits="0"/></lines></class>` +
			`<class filename="b"><methods><method><lines><line number="1" hits="1"/></lines></method></methods><lines/></class>` + xmlTail,
		"1/2 lines\na +[] -[2]\nb +[1] -[]", "",
	},
	{"cobertura: one source root", strings.Replace(xmlHead, "<packages>", "<sources><source>\n/project/src\n</source></sources><packages>", 1) +
		`<class filename="./p/a.py"><lines><line number="1" hits="1"/></lines></class><class filename="/abs.py"/>` + xmlTail, "1/1 lines\n/abs.py +[] -[]\n/project/src/p/a.py +[1] -[]", ""},
	{"cobertura: an option among the source roots", strings.Replace(xmlHead, "<packages>", "<sources><source>--source</source><source>/a</source><source>/a</source></sources><packages>", 1) +
		`<class filename="a.scala"><lines><line number="1" hits="1"/></lines></class>` + xmlTail, "1/1 lines\n/a/a.scala +[1] -[]", ""},
	{"cobertura: several source roots", strings.Replace(xmlHead, "<packages>", "<sources><source>/a</source><source>/b</source></sources><packages>", 1) +
		`<class filename="a.py"><lines><line number="1" hits="1"/></lines></class>` + xmlTail, "1/1 lines\na.py +[1] -[]", ""},
	{"cobertura: a source root of Windows", strings.Replace(xmlHead, "<packages>", `<sources><source>C:\w\</source></sources><packages>`, 1) +
		`<class filename="p\a.cs"><lines><line number="1" hits="1"/></lines></class>` + xmlTail, `1/1 lines` + "\n" + `C:\w\p\a.cs +[1] -[]`, ""},
	{"cobertura: totals that lie", strings.Replace(xmlHead, "<coverage>", `<coverage lines-valid="100" lines-covered="90" line-rate="0,9">`, 1) +
		`<class filename="a"><lines><line number="1" hits="0.0"/></lines></class>` + xmlTail, "0/1 lines\na +[] -[1]", "declares 90 of 100 lines, and lists 0 of 1"},
	{
		"jacoco: groups with a file of the same path", `<report name="r"><group name="m1"><package name="p"><sourcefile name="A.java"><line nr="1" mi="0" ci="1" mb="0" cb="0"/></sourcefile></package></group>` +
			`<group name="m2"><package name="p"><sourcefile name="A.java"><line nr="1" mi="1" ci="0" mb="1" cb="1"/></sourcefile></package></group></report>`,
		"1/2 lines, 1/2 branches\nm2/p/A.java +[] -[1]\np/A.java +[1] -[]", "",
	},
	{
		"jacoco: no lines in a source file", `<report><package name="p"><sourcefile name="A.java"><counter type="LINE" missed="1" covered="2"/><counter type="BRANCH" missed="1" covered="1"/></sourcefile><counter type="LINE" missed="1" covered="2"/></package><counter type="LINE" missed="1" covered="2"/></report>`,
		"2/3 lines, 1/2 branches\np/A.java +[] -[]", "",
	},
	{
		"jacoco: no source files", `<report><package name="p"><class name="p/A" sourcefilename="A.java"><method><counter type="LINE" missed="9" covered="9"/></method><counter type="LINE" missed="1" covered="2"/></class><class name="p/A$B" sourcefilename="A.java"><counter type="LINE" missed="0" covered="1"/></class></package></report>`,
		"3/4 lines\np/A.java +[] -[]", "",
	},
	{"jacoco: empty", `<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report name="x"/>`, "0/0 lines", ""},
	{
		"jacoco: totals that lie", `<report><package name="p"><sourcefile name="A"><line nr="1" mi="0" ci="1" mb="0" cb="0"/></sourcefile></package><counter type="LINE" missed="1" covered="2"/></report>`,
		"1/1 lines\np/A +[1] -[]", "declares 2 of 3 lines, and lists 1 of 1",
	},
	{
		"clover: istanbul lists lines", `<coverage clover="3.2.0"><project><metrics statements="2" coveredstatements="1" conditionals="4" coveredconditionals="1"/><file name="a.js" path="/p/a.js"><line num="1" count="3" type="cond" truecount="1" falsecount="3"/><line num="2" count="0" type="stmt"/></file></project></coverage>`,
		"1/2 lines, 1/4 branches\n/p/a.js +[1] -[2]", "",
	},
	{
		"clover: others list statements", `<coverage clover="4.4"><project><package name="a.b"><file name="C.java"><line num="1" count="1" type="method"/><line num="2" count="1" type="stmt"/><line num="2" count="0" type="stmt"/><line num="2" type="cond" truecount="5" falsecount="0"/><line num="2" type="cond" truecount="0" falsecount="0"/></file></package></project><testproject><metrics statements="7"/><file name="T"><line num="1" count="1" type="stmt"/></file></testproject></coverage>`,
		"1/2 statements, 1/4 branches\na/b/C.java +[2] -[]", "",
	},
	{
		"clover: its own version 3.2.0 gives no count of conditions", `<coverage clover="3.2.0"><project><file name="/a"><line num="1" type="cond" truecount="0" falsecount="1"/><line num="2" count="1" type="stmt"/></file></project></coverage>`,
		"1/1 lines, 0/1 branches\n/a +[2] -[]", "",
	},
	{
		"clover: totals that lie", `<coverage clover="4.4"><project><metrics statements="5" coveredstatements="5"/><file name="/a"><line num="1" count="0" type="stmt"/></file></project></coverage>`,
		"0/1 statements\n/a +[] -[1]", "declares 5 of 5 statements, and lists 0 of 1",
	},
	{
		"opencover: a file in two modules", ocHead + `<SequencePoints><SequencePoint vc="0" ordinal="0" sl="1" fileid="1"/><SequencePoint vc="1" ordinal="1" sl="2"/></SequencePoints><BranchPoints><BranchPoint vc="0" sl="1" path="0"/><BranchPoint vc="1" sl="1" path="1"/></BranchPoints></Method><Method><Name>m</Name><FileRef uid="1"/><SequencePoints><SequencePoint vc="1" ordinal="0" sl="1" fileid="1"/></SequencePoints>` + ocTail,
		"2/2 statements, 1/2 branches\nC:\\a.cs +[1-2] -[]", "",
	},
	{
		"opencover: no file is known", strings.Replace(ocHead, `<FileRef uid="1"/>`, "", 1) + `<SequencePoints><SequencePoint vc="0" sl="4"/><SequencePoint/></SequencePoints>` + ocTail,
		"0/2 statements\nA +[] -[4]", "",
	},
	{
		"istanbul: statements on one line", `{"a.js":{"path":"/a.js","statementMap":{"0":{"start":{"line":1}},"1":{"start":{"line":1}},"2":{"start":{"line":5}}},"s":{"0":0,"1":2,"2":0},"branchMap":{"0":{"line":1}},"b":{"0":[1,0]}}}`,
		"1/2 lines, 1/2 branches\n/a.js +[1] -[5]", "",
	},
	{
		"istanbul summary: totals that lie", `{"total":{"lines":{"total":9,"covered":9,"pct":100},"statements":{"total":9,"covered":9,"pct":100}},"/a":{"lines":{"total":2,"covered":1,"pct":50},"statements":{"pct":"Unknown"}}}`,
		"1/2 lines\n/a +[] -[]", "declares 9 of 9 lines, and lists 1 of 2",
	},
	{
		"coverage.py: format 2 without branches", `{"meta":{"format":2,"branch_coverage":false},"files":{"a.py":{"executed_lines":[1,2],"missing_lines":[5],"excluded_lines":[7]}},"totals":{"covered_lines":2,"num_statements":3}}`,
		"2/3 lines\na.py +[1-2] -[5]", "",
	},
	{
		"coverage.py: talk before the report", "Wrote it\n" + `{"meta":{"branch_coverage":true},"files":{"a.py":{"executed_lines":[],"missing_lines":[1],"executed_branches":[],"missing_branches":[[1,-1],[1,2]]}}}`,
		"0/1 lines, 0/2 branches\na.py +[] -[1]", "text outside of the report: Wrote it",
	},
	{
		"llvm-cov: a line of two functions", `{"data":[{"files":[{"filename":"/a.rs","segments":[[1,1,1,true,true,false],[3,2,0,false,false,false]],"summary":{"lines":{"count":4,"covered":3},"branches":{"count":0,"covered":0}}}],"totals":{"lines":{"count":4,"covered":3}}}],"type":"llvm.coverage.json.export"}`,
		"3/4 lines\n/a.rs +[1-3] -[]", "",
	},
	{
		"simplecov: results are merged as SimpleCov does", `{"rspec":{"coverage":{"/a.rb":{"lines":[1,null,null,0,0]},"/old.rb":[1,null,0]},"timestamp":1},"cucumber":{"coverage":{"/a.rb":{"lines":[0,0,3,0,"ignored"]}},"timestamp":2}}`,
		"3/5 lines\n/a.rb +[1,3] -[4]\n/old.rb +[1] -[3]", "",
	},
	{
		"simplecov: branches of two results", `{"a":{"coverage":{"/a.rb":{"lines":[1],"branches":{"[:if, 0, 1, 0, 1, 9]":{"[:then, 1, 1]":1,"[:else, 2, 1]":0}}}}},"b":{"coverage":{"/a.rb":{"lines":[1],"branches":{"[:if, 0, 1, 0, 1, 9]":{"[:then, 1, 1]":0,"[:else, 2, 1]":4}}}}}}`,
		"1/1 lines, 2/2 branches\n/a.rb +[1] -[]", "",
	},
	{"coverlet: methods of one file", `{"m.dll":{"C:\\a.cs":{"N.A":{"System.Void N.A::F()":{"Lines":{"1":1,"2":0},"Branches":[{"Line":1,"Offset":3,"EndOffset":5,"Path":0,"Ordinal":0,"Hits":2},{"Line":1,"Offset":3,"EndOffset":9,"Path":1,"Ordinal":1,"Hits":0}]}},` +
		`"N.A/B":{"System.Void N.A/B::G()":{"Lines":{"2":3,"9":0},"Branches":[]}}}}}`, "2/3 lines, 1/2 branches\nC:\\a.cs +[1-2] -[9]", ""},
	{
		"gcov: a template", `{"files":[{"file":"a.cc","lines":[{"line_number":3,"count":0,"function_name":"f<int>","branches":[{"count":0},{"count":1}]},{"line_number":3,"count":2,"function_name":"f<long>","branches":[{"count":1},{"count":0}]}]}]}`,
		"1/1 lines, 2/2 branches\na.cc +[3] -[]", "",
	},
	{
		"dotcover: nested types and statements twice", `<Root DotCoverVersion="2024.1" CoveredStatements="2" TotalStatements="3"><FileIndices><File Index="1" Name="C:\a.cs"/></FileIndices><Assembly Name="A" CoveredStatements="2" TotalStatements="3"><Type Name="T"><Method Name="M"><Statement FileIndex="1" Line="3" Column="1" EndLine="4" EndColumn="2" Covered="False"/></Method><Type Name="U"><Statement FileIndex="1" Line="3" Column="1" EndLine="4" EndColumn="2" Covered="True"/><Statement FileIndex="1" Line="3" Column="9" EndLine="3" EndColumn="12" Covered="True"/><Statement FileIndex="1" Line="8" Column="9" EndLine="8" EndColumn="12" Covered="False"/></Type></Type></Assembly></Root>`,
		"2/3 statements\nC:\\a.cs +[3] -[8]", "",
	},
	{
		"dotcover: assemblies alone, and totals that lie", `{"DotCoverVersion":"2024.1","Kind":"Root","CoveredStatements":5,"TotalStatements":9,"CoveragePercent":56,"Children":[{"Kind":"Assembly","Name":"A","CoveredStatements":1,"TotalStatements":4,"CoveragePercent":25}]}`,
		"1/4 statements\nA +[] -[]", "declares 5 of 9 statements, and lists 1 of 4",
	},
	{"gcov-text: two sources, an instance, and a block that did not run", "        -:    0:Source:a.cc\n        -:    1:x\n       1*:    2:y\nbranch  0 taken 50%\n------------------\nf<int>:\n    =====:    2:y\nbranch  0 never executed\nbranch  1 taken 0\n        -:    0:Source:b.cc\n    #####:    1:z\n    $$$$$:    1-block  0\n     1.2k:    2:z\n", "2/3 lines, 1/2 branches\na.cc +[2] -[]\nb.cc +[2] -[1]", ""},
	{"gcov: no files", `{"gcovr/format_version":"0.15","files":[]}`, "0/0 lines", ""},
	{
		"go: lines of blocks", "mode: set\np/a.go:4.22,5.11 1 1\np/a.go:5.11,7.3 1 0\np/a.go:9.2,9.11 1 1\n",
		"2/3 statements\np/a.go +[4-5,9] -[6-7]", "",
	},
	{
		"sonarqube", `<coverage version="1"><file path="a"><lineToCover lineNumber="1" covered="true" branchesToCover="2" coveredBranches="1"/><lineToCover lineNumber="2" covered="false"/></file></coverage>`,
		"1/2 lines, 1/2 branches\na +[1] -[2]", "",
	},
}

func TestCounts(t *testing.T) {
	for _, tt := range hand {
		t.Run(tt.name, func(t *testing.T) {
			r, err := coverage.Read(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, shown(t, r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if all := strings.Join(r.Problems, "\n"); !strings.Contains(all, tt.problem) || tt.problem == "" && all != "" {
				t.Errorf("problems %q, want %q", all, tt.problem)
			}
			checkSane(t, r, err)
		})
	}
}

// TestDamagedReportIsRefused reads what is not a report, or not one to rely on.
func TestDamagedReportIsRefused(t *testing.T) {
	for _, tt := range []struct{ name, report, why string }{
		{"gcov-text: cut off in a line", "        -:    0:Source:a.cc\n        1:    1:x\n        1:    2", "the middle of a line"},
		{"gcov-text: a line is missing", "        -:    0:Source:a.cc\n        1:    1:x\n        1:    3:x\n", "line 3 follows line 1 of a.cc"},
		{"gcov-text: no count", "        -:    0:Source:a.cc\n      1,2:    1:x\n", "no number of executions"},
		{"gcov-text: a branch without count", "        -:    0:Source:a.cc\n        1:    1:x\nbranch  0 taken often (fallthrough)\n", "no number of times"},
		{"dotcover: a statement of no file", `<Root DotCoverVersion="1" TotalStatements="1" CoveredStatements="1"><Statement FileIndex="4" Line="1" Covered="True"/></Root>`, "not in the list of files"},
		{"dotcover: a type without numbers", `{"DotCoverVersion":"1","Kind":"Root","TotalStatements":1,"Children":[{"Kind":"Type","Name":"T","CoveredStatements":2,"TotalStatements":1}]}`, "more covered than there is"},
		{"dotcover: cut off", `{"DotCoverVersion":"1","Kind":"Root","TotalStatements":1,"Children":[{"Kind":"Type","Name":"T"`, "ends in the middle"},
		{"lcov: no end_of_record", "TN:\nSF:a\nDA:1,1\n", "no end_of_record"},
		{"lcov: cut off in a record", "SF:a\nDA:1,1\nend_of_record\nSF:b\nDA:1", "no end_of_record"},
		{"lcov: cut off after a test name", "TN:\nSF:a\nDA:1,1\nend_of_record\nTN:\n", "no source file follows"},
		{"lcov: one file within another", "SF:a\nDA:1,1\nSF:b\nDA:1,1\nend_of_record\n", "line 3 (byte 12): another source file begins"},
		{"lcov: a count that is none", "SF:a\nDA:1,yes\nend_of_record\n", `"yes" is no number of executions`},
		{"lcov: a line that is none", "SF:a\nDA:x,1\nend_of_record\n", `"x" is no line number`},
		{"cobertura: totals of nothing", `<coverage line-rate="0.9" lines-valid="10" lines-covered="9"></coverage>`, "no packages"},
		{"cobertura: a line without count", xmlHead + `<class filename="a"><lines><line number="1"/></lines></class>` + xmlTail, `"" is no number of executions`},
		{"cobertura: a count that is none", xmlHead + `<class filename="a"><lines><line number="1" hits="NaN"/></lines></class>` + xmlTail, `"NaN" is no number of executions`},
		{"cobertura: cut off between classes", xmlHead + `<class filename="a"><lines><line number="1" hits="1"/></lines></class>`, "ends inside <classes>"},
		{"clover: no project", `<coverage generated="1" clover="3.2.0"></coverage>`, "no project"},
		{"clover: a statement without count", `<coverage clover="4"><project><file name="a"><line num="1" type="stmt"/></file></project></coverage>`, "no number of executions"},
		{"opencover: no modules", `<CoverageSession><Summary numSequencePoints="5"/></CoverageSession>`, "no modules"},
		{"jacoco: another report", `<other name="x"/>`, "none of the formats"},
		{"jacoco: branches that are none", `<report><package name="p"><sourcefile name="A"><line nr="1" mi="0" ci="1" mb="x" cb="0"/></sourcefile></package></report>`, "no numbers"},
		{"istanbul: a statement without count", `{"/a.js":{"path":"/a.js","statementMap":{"0":{"start":{"line":1}}},"s":{}}}`, "statement 0 of /a.js has no count"},
		{"istanbul: cut off", `{"/a.js":{"path":"/a.js","statementMap":{"0":{"start":{"line":1}}},"s":{"0":1}}`, "the report ends in the middle"},
		{"istanbul: a file that is none", `{"/a.js":{"path":"/a.js","statementMap":{},"s":{}},"/b.js":{}}`, "/b.js has no statements"},
		{"istanbul summary: more covered than there is", `{"/a":{"lines":{"total":1,"covered":2,"pct":1},"statements":{"pct":1}}}`, "more covered than there is"},
		{"coverage.py: cut off", `{"meta":{"branch_coverage":true},"files":{"a.py":{"executed_lines":[1],"missing_lines":[2]}}`, "the report ends in the middle"},
		{"coverage.py: no files", `{"meta":{"branch_coverage":true},"files":{"a.py":{}}}`, "a.py has no lines"},
		{"llvm-cov: a file without numbers", `{"data":[{"files":[{"filename":"a"}]}]}`, "no numbers of lines"},
		{"gcov: a line without count", `{"files":[{"file":"a","lines":[{"line_number":1}]}]}`, "line 1 of a has no count"},
		{"coverlet: a line without count", `{"m.dll":{"a.cs":{"A":{"F":{"Lines":{"1":"x"}}}}}}`, "line 1 of a.cs has no count"},
		{"simplecov: no lines", `{"a":{"coverage":{"/b":{"lines":[1]},"/a":{"branches":{}}}}}`, "/a has no lines"},
		{"sonarqube: neither covered nor not", `<coverage version="1"><file path="a"><lineToCover lineNumber="1"/></file></coverage>`, "neither covered nor not"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := coverage.Read(strings.NewReader(tt.report), "the report")
			if err == nil || !strings.Contains(err.Error(), tt.why) || !strings.Contains(err.Error(), "the report") {
				t.Errorf("%s, error %v; want %q", summary(r), err, tt.why)
			}
			checkSane(t, r, err)
		})
	}
}

// TestReadErrorIsReturned reads captured reports from a disk that fails in the middle.
func TestReadErrorIsReturned(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, path := range captured(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src := io.MultiReader(bytes.NewReader(text[:len(text)*2/3]), iotest.ErrReader(broken))
		if _, err := coverage.Read(src, path); !errors.Is(err, broken) {
			t.Errorf("%s: error %v, want %v", path, err, broken)
		}
	}
}

// TestFileNamedBehindTheHeadIsRead reads a report whose first file is named after more text than
// is looked at to recognise it.
func TestFileNamedBehindTheHeadIsRead(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"gcc_version":"12","files":[{"lines":[{"line_number":1,"count":1}`)
	for b.Len() < 1<<19 {
		b.WriteString(`,{"line_number":2,"count":0,"branches":[]}`)
	}
	b.WriteString(`],"file":"a.c","functions":[]}]}`)
	r, err := coverage.Read(strings.NewReader(b.String()), "late.json")
	if err != nil || shown(t, r) != "1/2 lines\na.c +[1] -[2]" {
		t.Errorf("%s, %v", shown(t, r), err)
	}
}
