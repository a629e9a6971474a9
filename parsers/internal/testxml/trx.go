package testxml

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// trxStatuses maps the outcomes of Visual Studio, in lower case. A test that was still
// running at the end of the run failed. One with warnings passed.
var trxStatuses = map[string]metric.Status{
	"passed": metric.Passed, "passedbutrunaborted": metric.Passed, "completed": metric.Passed, "warning": metric.Passed,
	"failed": metric.Failed, "timeout": metric.Failed, "inprogress": metric.Failed,
	"error": metric.Errored, "aborted": metric.Errored, "disconnected": metric.Errored,
	"notexecuted": metric.Skipped, "notrunnable": metric.Skipped, "inconclusive": metric.Skipped,
	"pending": metric.Skipped, "skipped": metric.Skipped, "none": metric.Skipped,
}

// trxCrashes are parts of the messages of vstest about a run that ended early. The tests
// that did not run are unknown then.
var trxCrashes = []string{"test run was aborted", "test host process crashed", "test run aborted", "test run was canceled"}

// detectTRX reports whether the head is a TRX. It checks more than the root element, which is
// the same for CppUnit.
func detectTRX(h sniff.Head) bool {
	elements := []string{"Results", "ResultSummary", "TestDefinitions", "TestSettings", "Times"}
	hasElement := func(name string) bool { return h.HasElements(name) }
	return h.HasRoot("TestRun") && (slices.ContainsFunc(elements, hasElement) || strings.Contains(h.Root.Attr("xmlns"), "TeamTest"))
}

// trxReader reads the TRX of Visual Studio, dotnet test and vstest. The suite of a test is
// its assembly, and the class that of its method. Both are in the definitions, which are
// before or after the results.
type trxReader struct {
	xmlSet
	definitions  map[string]trxDefinition // by ID of the test
	results      []trxResult              // in the order of the report
	resultTotals parsed.Totals            // counts of all results, also of those that contain others
	summary      string                   // the outcome of the run in lower case, "" if the report has none
	infos        []string                 // errors of the run, at most nine
	crash        string                   // why the run ended early, "" if it did not
}

// trxDefinition is the definition of a test: its class, the path of its assembly, the adapter
// that ran it, and its name.
type trxDefinition struct{ class, storage, adapter, name string }

// trxResult is an open or closed result of a test.
type trxResult struct {
	id       string // of its definition
	test     metric.Test
	children int  // number of results in it
	failed   bool // one of its children failed
}

// parseTRX reads a TRX. The results become tests at the end, when all definitions are known.
func parseTRX(r io.Reader) (parsed.Report, error) {
	v := &trxReader{definitions: map[string]trxDefinition{}}
	var counters xmlstream.Token
	x, err := readRoot(r, "TRX", func(x *xmlstream.Reader, _ xmlstream.Token) error {
		return readElements(x, map[string]any{
			"Results": func(xmlstream.Token) error { return v.readResults(x, nil) },
			"TestDefinitions": func(xmlstream.Token) error {
				return x.EachChild(func(t xmlstream.Token) error { return v.readDefinition(x, t) })
			},
			"ResultSummary": func(t xmlstream.Token) error { return v.readSummary(x, t, &counters) },
		})
	}, "TestRun")

	for _, result := range v.results {
		v.Add(v.toTest(result))
	}
	if counters.Name != "" && err == nil {
		v.checkNotEmpty(counters, "test run", v.Totals.Tests)
		v.checkTotal(counters, "total", "tests ran", v.Totals.Tests, v.resultTotals.Tests)
		v.checkFailures(counters, "tests failed", []int{v.Totals.Unsuccessful(), v.resultTotals.Unsuccessful()}, "failed", "error", "timeout", "aborted")
	}

	report := v.report(x, v.producer())
	v.setRunOutcome(report.Tests)
	return report, err
}

// readResults reads the results in the open element. Outer is the result that contains them,
// for the rows of a data-driven test or the parts of an ordered one, and nil for others.
func (v *trxReader) readResults(x *xmlstream.Reader, outer *trxResult) error {
	return x.EachChild(func(t xmlstream.Token) error {
		if _, named := t.Attr("testName"); !named {
			return nil
		}
		if outer != nil {
			outer.children++
		}
		return v.readResult(x, t, outer)
	})
}

// readResult reads a result with the results in it.
func (v *trxReader) readResult(x *xmlstream.Reader, t xmlstream.Token, outer *trxResult) error {
	word, given := t.Attr("outcome")
	r := trxResult{id: t.Value("testId"), test: metric.Test{
		ID:       metric.ID{Name: t.Value("testName")},
		Status:   trxStatuses[strings.ToLower(word)],
		Duration: parseClock(t.Value("duration")),
	}}
	if row := t.Value("dataRowInfo"); row != "" && t.Value("resultType") == "DataDrivenDataRow" && !strings.ContainsAny(r.test.Name, "(") {
		r.test.Name += "[" + row + "]"
	}

	err := x.EachChild(func(t xmlstream.Token) (err error) {
		switch t.Name {
		case "Output":
			r.test.Message, err = readTRXMessage(x, t, r.test.Status)
		case "InnerResults":
			err = v.readResults(x, &r)
		}
		return err
	})
	if err != nil {
		return err // the outcome may be missing
	}

	if r.test.Status == 0 {
		r.test.Status = metric.Errored
		if given {
			v.Problems.Add("test %q has the unknown outcome %q: it counts as an error", r.test.Name, word)
		}
	}

	v.resultTotals.Add(r.test.Status)
	if outer != nil {
		outer.failed = outer.failed || r.failed || r.test.Failed()
	}
	// A result with children counts only if it failed and none of the children did.
	if r.children == 0 || r.test.Failed() && !r.failed {
		v.results = append(v.results, r)
	}
	return nil
}

// readTRXMessage reads the error in an Output. For a skipped test without an error, it
// returns what the test printed, which usually is the reason.
func readTRXMessage(x *xmlstream.Reader, t xmlstream.Token, s metric.Status) (string, error) {
	e, err := readElement(x, t, "ErrorInfo", "Message", "StackTrace", "TextMessages", "StdOut")
	message := e.child("ErrorInfo").lines("Message", "StackTrace")
	if message == "" && s == metric.Skipped {
		message = e.lines("TextMessages", "StdOut")
	}
	return message, err
}

// readDefinition stores the definition of a test.
func (v *trxReader) readDefinition(x *xmlstream.Reader, t xmlstream.Token) error {
	e, err := readElement(x, t, "TestMethod")
	method := e.child("TestMethod")
	class, _, _ := strings.Cut(method.Value("className"), ",") // "Name.Space.Class, Assembly, Version=…" of older versions
	v.definitions[e.Value("id")] = trxDefinition{
		class: class, storage: cmp.Or(method.Value("codeBase"), e.Value("storage")), adapter: method.Value("adapterTypeName"), name: e.Value("name"),
	}
	return err
}

// toTest returns the test of a result, with the identity from its definition.
func (v *trxReader) toTest(r trxResult) metric.Test {
	d := v.definitions[r.id]
	t := r.test
	t.Suite, t.Class = assemblyName(d.storage), d.class
	t.Name = trimClass(t.Name, d.class)
	if d.class == "" { // older loggers name no method
		if i := classEnd(t.Name); i > 0 {
			t.Class, t.Name = t.Name[:i], t.Name[i+1:]
		}
	}
	return t
}

// classEnd returns the index of the dot between class and method in a full name, -1 if there is
// none: 9 in "shop.Calc.Add(a.b)". Names have neither spaces nor brackets before the
// parameters.
func classEnd(name string) int {
	if i := strings.IndexAny(name, "( \"["); i >= 0 {
		name = name[:i]
	}
	return strings.LastIndexByte(name, '.')
}

// readSummary reads the outcome of the run, its messages, and the counters, which it stores.
func (v *trxReader) readSummary(x *xmlstream.Reader, t xmlstream.Token, counters *xmlstream.Token) error {
	v.summary = strings.ToLower(t.Value("outcome"))
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "Counters":
			*counters = t
			counters.Attrs = slices.Clone(t.Attrs)
		case "RunInfos":
			return x.EachChild(func(t xmlstream.Token) error { return v.readRunInfo(x, t) })
		}
		return nil
	})
}

// readRunInfo reads one message about the run.
func (v *trxReader) readRunInfo(x *xmlstream.Reader, t xmlstream.Token) error {
	outcome := strings.ToLower(t.Value("outcome"))
	text, err := readText(x)
	if trxStatuses[outcome] == metric.Errored || trxStatuses[outcome] == metric.Failed {
		v.infos = append(v.infos[:min(len(v.infos), 8)], text)
	}
	for _, crash := range trxCrashes {
		if v.crash == "" && strings.Contains(strings.ToLower(text), crash) {
			v.crash = text
		}
	}
	return err
}

// setRunOutcome applies the outcome of the run to the tests. If it is not "Failed" or
// "Completed", the run ended early: every assembly may have tests that are missing.
func (v *trxReader) setRunOutcome(t *metric.Tests) {
	why := textstream.ClipText(strings.Join(v.infos, "\n"))
	switch trxStatuses[v.summary] {
	case metric.Errored:
		v.crash = cmp.Or(v.crash, why, "the run ended with the outcome "+v.summary)
	case metric.Failed:
		if t.Counts().Failed == 0 && v.crash == "" {
			t.Failure = cmp.Or(why, "the run failed although no test did")
		}
	case metric.Passed, metric.Skipped, metric.NotRun:
	}
	if v.crash == "" {
		return
	}
	var broken []metric.Suite
	for _, c := range t.Cases {
		broken = append(broken, metric.Suite{Name: c.Suite, Why: v.crash})
	}
	if len(broken) == 0 {
		broken = []metric.Suite{{Name: "test run", Why: v.crash}}
	}
	t.Broken = parsed.UniqueSuites(broken)
}

// trxAdapters identifies the test framework by a part of the name of its adapter, in lower
// case.
var trxAdapters = []struct{ contains, name string }{
	{"xunit", "xunit.net"}, {"nunit", "nunit"}, {"mstest", "mstest"}, {"testtools.testtypes.unit", "mstest"},
}

// producer returns the framework of the first test that names one, "" if none does.
func (v *trxReader) producer() string {
	for _, r := range v.results {
		adapter := strings.ToLower(v.definitions[r.id].adapter)
		for _, a := range trxAdapters {
			if strings.Contains(adapter, a.contains) {
				return a.name
			}
		}
	}
	return ""
}

// clockPattern matches a time of .NET, days, hours, minutes and seconds: "1.02:03:04.5".
var clockPattern = regexp.MustCompile(`^(?:(\d+)\.)?(\d+):(\d+):(\d+(?:\.\d+)?)$`)

// parseClock parses a time of .NET: [days.]hours:minutes:seconds. Other texts give 0.
func parseClock(s string) time.Duration {
	m := clockPattern.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0
	}
	sum := 0.0
	for i, unit := range []float64{86400, 3600, 60, 1} {
		n, _ := strconv.ParseFloat(cmp.Or(m[i+1], "0"), 64)
		sum += n * unit
	}
	return parsed.Seconds(sum)
}
