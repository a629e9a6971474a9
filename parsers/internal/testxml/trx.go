package testxml

import (
	"cmp"
	"io"
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

// trxOutcomes are the outcomes of a test in Visual Studio's terms. A test that
// was still running when the run ended failed; one that ended with warnings
// passed.
var trxOutcomes = map[string]metric.Status{
	"passed": metric.Passed, "passedbutrunaborted": metric.Passed, "completed": metric.Passed, "warning": metric.Passed,
	"failed": metric.Failed, "timeout": metric.Failed, "inprogress": metric.Failed,
	"error": metric.Errored, "aborted": metric.Errored, "disconnected": metric.Errored,
	"notexecuted": metric.Skipped, "notrunnable": metric.Skipped, "inconclusive": metric.Skipped,
	"pending": metric.Skipped, "skipped": metric.Skipped, "none": metric.Skipped,
}

// trxCrashes are what vstest says of a run that broke off: the tests that were
// still to come are unknown.
var trxCrashes = []string{"test run was aborted", "test host process crashed", "test run aborted", "test run was canceled"}

// detectTRX wants more than the root element, which CppUnit has as well.
func detectTRX(h sniff.Head) bool {
	if !h.HasRoot("TestRun") {
		return false
	}
	for _, part := range []string{"Results", "ResultSummary", "TestDefinitions", "TestSettings", "Times"} {
		if h.HasElements(part) {
			return true
		}
	}
	return strings.Contains(h.Root.Attr("xmlns"), "TeamTest")
}

// trxReader reads the TRX of Visual Studio, dotnet test and vstest. The suite
// is the assembly, the class that of the test method; both are in the
// definitions, before or after the results.
type trxReader struct {
	xmlSet
	defined map[string]trxDefinition // by the id of the test
	results []trxResult
	all     parsed.Totals // of results, with those that only gather others
	summary string
	infos   []string
	crash   string
}

// trxDefinition is a test as it is defined.
type trxDefinition struct{ class, storage, adapter, name string }

// trxResult is an open or closed result of a test.
type trxResult struct {
	id       string
	test     metric.Test
	children int
	failed   bool // a result within it failed
}

func parseTRX(r io.Reader) (parsed.Report, error) {
	v := &trxReader{defined: map[string]trxDefinition{}}
	var counters xmlstream.Token
	x, err := readRoot(r, "TRX", func(x *xmlstream.Reader, _ xmlstream.Token) error {
		return children(x, map[string]any{
			"Results": func(xmlstream.Token) error { return v.resultsIn(x, nil) },
			"TestDefinitions": func(xmlstream.Token) error {
				return x.EachChild(func(t xmlstream.Token) error { return v.define(x, t) })
			},
			"ResultSummary": func(t xmlstream.Token) error { return v.summarize(x, t, &counters) },
		})
	}, "TestRun")
	for _, result := range v.results {
		v.Add(v.identified(result))
	}
	if counters.Name != "" && err == nil {
		v.hollow(counters, "test run", v.Totals.Tests)
		v.declared(counters, "total", "tests ran", v.Totals.Tests, v.all.Tests)
		v.fails(counters, "tests failed", []int{v.bad(), v.all.Failed + v.all.Errors}, "failed", "error", "timeout", "aborted")
	}
	report := v.report(x, v.producer())
	v.conclude(report.Tests)
	return report, err
}

// resultsIn reads results, those of the rows of a data-driven test or of the
// parts of an ordered one into the result around them.
func (v *trxReader) resultsIn(x *xmlstream.Reader, outer *trxResult) error {
	return x.EachChild(func(t xmlstream.Token) error {
		if _, named := t.Attr("testName"); !named {
			return nil
		}
		if outer != nil {
			outer.children++
		}
		return v.result(x, t, outer)
	})
}

func (v *trxReader) result(x *xmlstream.Reader, t xmlstream.Token, outer *trxResult) error {
	word, given := t.Attr("outcome")
	r := trxResult{id: t.Value("testId"), test: metric.Test{
		ID:       metric.ID{Name: t.Value("testName")},
		Status:   trxOutcomes[strings.ToLower(word)],
		Duration: clockTime(t.Value("duration")),
	}}
	if row := t.Value("dataRowInfo"); row != "" && t.Value("resultType") == "DataDrivenDataRow" && !strings.ContainsAny(r.test.Name, "(") {
		r.test.Name += "[" + row + "]"
	}
	err := x.EachChild(func(t xmlstream.Token) (err error) {
		switch t.Name {
		case "Output":
			r.test.Message, err = trxMessage(x, r.test.Status)
		case "InnerResults":
			err = v.resultsIn(x, &r)
		}
		return err
	})
	if err != nil {
		return err // its outcome may be in the part that is missing
	}
	if r.test.Status == 0 {
		r.test.Status = metric.Errored
		if given {
			v.Problems.Add("test %q has the unknown outcome %q: it counts as an error", r.test.Name, word)
		}
	}
	v.all.Add(r.test.Status)
	if outer != nil {
		outer.failed = outer.failed || r.failed || r.test.Failed()
	}
	// A result around others does not count, except for a failure that none of them has.
	if r.children == 0 || r.test.Failed() && !r.failed {
		v.results = append(v.results, r)
	}
	return nil
}

// trxMessage reads what an Output says of a failure; the reason of a skip is
// what the test printed, as a rule.
func trxMessage(x *xmlstream.Reader, s metric.Status) (string, error) {
	var c, plain textstream.Clip
	err := x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "ErrorInfo":
			return x.EachChild(func(t xmlstream.Token) error {
				if t.Name == "Message" || t.Name == "StackTrace" {
					return content(x, &c)
				}
				return nil
			})
		case "TextMessages", "StdOut":
			if s == metric.Skipped {
				return content(x, &plain)
			}
		}
		return nil
	})
	return cmp.Or(c.String(), plain.String()), err
}

func (v *trxReader) define(x *xmlstream.Reader, t xmlstream.Token) error {
	id := t.Value("id")
	d := trxDefinition{storage: t.Value("storage"), name: t.Value("name")}
	err := x.EachChild(func(t xmlstream.Token) error {
		if t.Name == "TestMethod" {
			// "Name.Space.Class, Assembly, Version=…" of older versions
			class, _, _ := strings.Cut(t.Value("className"), ",")
			d.class, d.adapter = class, t.Value("adapterTypeName")
			d.storage = cmp.Or(t.Value("codeBase"), d.storage)
		}
		return nil
	})
	v.defined[id] = d
	return err
}

// identified returns the test of a result with the identity that its
// definition gives it.
func (v *trxReader) identified(r trxResult) metric.Test {
	d := v.defined[r.id]
	t := r.test
	t.Suite, t.Class = assembly(d.storage), d.class
	t.Name = withoutClass(t.Name, d.class)
	if d.class == "" { // older loggers name no method
		if i := lastDot(t.Name); i > 0 {
			t.Class, t.Name = t.Name[:i], t.Name[i+1:]
		}
	}
	return t
}

// lastDot returns where the class ends in a full name: a name of a method has
// neither spaces nor brackets before its parameters. It is -1 where name is no
// full name.
func lastDot(name string) int {
	if i := strings.IndexAny(name, "( \"["); i >= 0 {
		name = name[:i]
	}
	return strings.LastIndexByte(name, '.')
}

func (v *trxReader) summarize(x *xmlstream.Reader, t xmlstream.Token, counters *xmlstream.Token) error {
	v.summary = strings.ToLower(t.Value("outcome"))
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "Counters":
			*counters = t
			counters.Attrs = append([]xmlstream.Attr{}, t.Attrs...)
		case "RunInfos":
			return x.EachChild(func(t xmlstream.Token) error { return v.info(x, t) })
		}
		return nil
	})
}

// info reads one message about the entire run.
func (v *trxReader) info(x *xmlstream.Reader, t xmlstream.Token) error {
	outcome := strings.ToLower(t.Value("outcome"))
	text, err := clipped(x)
	if trxOutcomes[outcome] == metric.Errored || trxOutcomes[outcome] == metric.Failed {
		v.infos = append(v.infos[:min(len(v.infos), 8)], text)
	}
	for _, crash := range trxCrashes {
		if v.crash == "" && strings.Contains(strings.ToLower(text), crash) {
			v.crash = text
		}
	}
	return err
}

// conclude says how the entire run ended where its tests do not show
// it. Other words than "Failed" and "Completed" mean that it broke off: the
// tests that every assembly still had are unknown.
func (v *trxReader) conclude(t *metric.Tests) {
	why := textstream.ClipText(strings.Join(v.infos, "\n"))
	switch trxOutcomes[v.summary] {
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

// trxAdapters are the frameworks by the adapter that ran their tests.
var trxAdapters = []struct{ contains, name string }{
	{"xunit", "xunit.net"}, {"nunit", "nunit"}, {"mstest", "mstest"}, {"testtools.testtypes.unit", "mstest"},
}

// producer returns the framework of the first test that names one.
func (v *trxReader) producer() string {
	for _, r := range v.results {
		adapter := strings.ToLower(v.defined[r.id].adapter)
		for _, a := range trxAdapters {
			if strings.Contains(adapter, a.contains) {
				return a.name
			}
		}
	}
	return ""
}

var clock = regexp.MustCompile(`^(?:(\d+)\.)?(\d+):(\d+):(\d+(?:\.\d+)?)$`)

// clockTime reads a time as .NET writes it: [days.]hours:minutes:seconds. What
// it cannot read is not a time.
func clockTime(s string) time.Duration {
	m := clock.FindStringSubmatch(strings.TrimSpace(s))
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
