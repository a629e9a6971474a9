package product

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// moduleMockRE matches calls that replace a module by a double, as in jest.mock("./cart").
var moduleMockRE = regexp.MustCompile(`(?:\bpatch(?:\.object)?\(\s*["']?|\b` + framework.NodeMock + `\.(?:do)?mock\(\s*|\bmock\.module\(\s*|proxyquire\(\s*|\bmonkeypatch\.setattr\(\s*)(?:["'\x60])?([\w./@$-]+)`)

// findMockedSubject finds tests that replace what they test by a double: what their file is named
// after, what they call, or what they assert about.
func findMockedSubject(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	s := f.After()
	if !s.Exists() || !s.IsTestFile() || f.Added {
		return
	}
	for _, l := range facts.MatchingLines(f.AddedLines(), doubleWordRE) {
		if severity, found := mocksSubject(c, f, l); found {
			report(s.FindingAt(l.Number, l.Text).WithSeverity(severity))
		}
	}
}

// isPartOfPath reports whether a subject is one of the parts of the path or the dotted name of a
// module.
func isPartOfPath(module, subject string) bool {
	parts := strings.FieldsFunc(strings.ToLower(module), func(r rune) bool { return r == '.' || r == '/' })
	return len(subject) > 2 && slices.Contains(parts, subject)
}

var (
	// doubleWordRE matches lines that may have to do with doubles, such as "mock" and "stub".
	doubleWordRE = regexp.MustCompile(`(?i)mock|patch|stub|double|spy|fake|substitute|setattr|proxyquire|autospec|prophesize|receive\(`)
	// doubleCallRE matches what makes a double, as in Mock() and createStub(.
	doubleCallRE = regexp.MustCompile(`\b(?:createMock|createStub|createPartialMock|createConfiguredMock|getMockBuilder|prophesize)\(|Mockery::(?:mock|spy)\(|\bnew Mock<|\bMock\.Of<|\bSubstitute\.For<|\bA\.Fake<|\bmockk\b|\b(?:Mockito\.)?mock\s*[(<]|\b(?:instance_|class_|object_)?double\(|\bMinitest::Mock\.new|\b(?:Magic|Async|NonCallable)?Mock\(|\bcreate_autospec\(|createStubInstance\(|\b` + framework.NodeMock + `\.(?:fn|mocked)\(|\b(?:Nice|Strict|Naggy)Mock<|\bNewMock\w*\(|\bMock[A-Z]\w*(?:\(|::new)|\bmock\.(?:NewMock|Mock)\b|\b(?:flexmock|stub)\(|\bSimpleNamespace\(`)
	// assignmentRE splits a line that assigns to a name into the name and the value.
	assignmentRE = regexp.MustCompile(`^\s*(?:(?:const|let|var|val|final|auto|my|@?\w+(?:<[^=]*>)?)\s+){0,3}[$@]?(?:this\.|self\.|this->)?(\w+)\s*(?::\s*[\w<>.]+\s*)?:?=\s*([^=].*)$`)
	// stubCallRE matches what replaces one function or method by name, as in patch.object(cart,
	// "total". Groups come in pairs: the object and the function.
	stubCallRE = regexp.MustCompile(`spyOn\(\s*([\w.]+),\s*['"](\w+)['"]\s*\)\s*\.(?:mock|and\.)|\bstub\(\s*([\w.]+),\s*['"](\w+)['"]|allow\w*\(([\w.:]+)\)\.to\s+receive\(:(\w+[?!]?)\)|([\w.:@]+)\.(?:stubs|stub|expects)\(:(\w+[?!]?)|patch\.object\(\s*([\w.]+),\s*["'](\w+)["']|setattr\(\s*([\w.]+),\s*["'](\w+)["']`)
	// patchCallRE matches what replaces a thing by its full name, as in patch("shop.cart.total".
	patchCallRE = regexp.MustCompile(`\bpatch\(\s*f?["']([\w.]+)["']|\bpatch\.object\(\s*([\w.]+)\s*,|\bsetattr\(\s*["']([\w.]+)["']`)
	// environmentNameRE matches things that every test may replace, such as console and time.
	environmentNameRE = regexp.MustCompile(`^(?:console|process|Date|Math|time|datetime|os|sys|logging|window|document|global|globalThis|random|socket|subprocess|builtins|requests|fetch|fs|http|https|axios|logger|log|Time|Kernel|File|ENV|Rails|builtins\..*|time\..*|os\..*|sys\..*|socket\..*|subprocess\..*|random\..*)$`)
	// partialDoubleRE matches partial doubles, which keep most of a module, such as requireActual.
	partialDoubleRE = regexp.MustCompile(`requireActual|importActual|importOriginal|\bwraps\s*=|callThrough|autospec=True, side_effect|CallBase\s*=\s*true|and_call_original`)
)

// mocksSubject returns the severity of a line that was added to a test file and replaces what its
// tests are about. It is false if the line does not.
func mocksSubject(c *facts.Change, f *facts.ChangedFile, l facts.Line) (metric.Severity, bool) {
	if partialDoubleRE.MatchString(l.Text) || partialDoubleRE.MatchString(f.After().LineAt(l.Number+1)+f.After().LineAt(l.Number+2)) {
		return 0, false
	}
	if p, ok := pairAt(c, f, l.Number); ok {
		if replacesSubject(f, p, l) || stubsCalledFunction(p, l.Text) && !wasStubbed(p, l.Text) {
			return metric.High, true
		}
	}
	m := moduleMockRE.FindStringSubmatch(l.Text)
	switch {
	case m == nil:
		return 0, false
	case strings.HasPrefix(m[1], ".") && isOnlyImport(f, m[1]):
		return metric.High, true
	case isPartOfPath(m[1], facts.SubjectName(f.Path)):
		return metric.Medium, true
	}
	return 0, false
}

// pairAt returns the test, before and after the change, that contains a line or that the line
// annotates. It is false if there is none that existed before.
func pairAt(c *facts.Change, f *facts.ChangedFile, n int) (facts.Pair, bool) {
	d := f.After().TestAt(n)
	if d == nil {
		return facts.Pair{}, false
	}
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.After.File == f && p.After.Line == d.Line {
			return p, true
		}
	}
	return facts.Pair{}, false
}

// replacesSubject reports whether a line gives a double to a name that had a real thing before, if
// the test called its methods or asserted about it.
func replacesSubject(f *facts.ChangedFile, p facts.Pair, l facts.Line) bool {
	m := assignmentRE.FindStringSubmatch(l.Text)
	if m == nil || !doubleCallRE.MatchString(m[2]) {
		return false
	}

	had := slices.ContainsFunc(f.RemovedLines(), func(old facts.Line) bool {
		before := assignmentRE.FindStringSubmatch(old.Text)
		return before != nil && before[1] == m[1] && !doubleNameRE.MatchString(before[2]) && strings.Contains(before[2], "(") && !isSameCall(before[2], m[2]) &&
			p.Before.Line <= old.Number && old.Number <= p.Before.End
	})
	if !had {
		return false
	}

	body := p.Before.Side.LinesWithoutComments(p.Before.Line, p.Before.End)
	called := regexp.MustCompile(`(?:^|[^\w])` + regexp.QuoteMeta(m[1]) + `(?:\.|->|\?\.|!!\.|!\.|::)\w+|[$]` + regexp.QuoteMeta(m[1]) + `\(`)
	asserted := regexp.MustCompile(`\b` + regexp.QuoteMeta(m[1]) + `\b`)
	return called.MatchString(body) || slices.ContainsFunc(p.Before.Assertions, asserted.MatchString)
}

// doubleNameRE matches names of doubles, such as fakeClock.
var doubleNameRE = regexp.MustCompile(`(?i)mock|stub|fake|double|spy|\b` + framework.NodeMock + `\.fn\b|sinon`)

// isSameCall reports whether two values come from the same call. A real thing with a double as its
// argument is still real.
func isSameCall(before, after string) bool {
	a, _, _ := strings.Cut(before, "(")
	b, _, _ := strings.Cut(after, "(")
	return facts.RemoveSpace(a) == facts.RemoveSpace(b)
}

// stubsCalledFunction reports whether a line replaces a function that the test called before and
// still calls.
func stubsCalledFunction(p facts.Pair, text string) bool {
	if m := stubCallRE.FindStringSubmatch(text); m != nil {
		for i := 1; i < len(m); i += 2 {
			if m[i] != "" && !environmentNameRE.MatchString(m[i]) && callsFunction(p, m[i+1]) {
				return true
			}
		}
	}
	if m := patchCallRE.FindStringSubmatch(text); m != nil {
		target := m[1] + m[2] + m[3]
		return !environmentNameRE.MatchString(target) && callsFunction(p, facts.LastName(target))
	}
	return false
}

// stubNameRE matches the name, in quotes or after a colon, of what is replaced.
var stubNameRE = regexp.MustCompile(`(?:['"]|receive\(:|\(:)(\w+)['")]`)

// wasStubbed reports whether a removed line of the test replaced the same function.
func wasStubbed(p facts.Pair, text string) bool {
	m := stubNameRE.FindStringSubmatch(text)
	return m != nil && slices.ContainsFunc(p.Before.File.RemovedLines(), func(l facts.Line) bool {
		return doubleWordRE.MatchString(l.Text) && strings.Contains(l.Text, m[1]) && p.Before.Line <= l.Number && l.Number <= p.Before.End
	})
}

// callsFunction reports whether a test called a function before the change and still does.
func callsFunction(p facts.Pair, name string) bool {
	if len(name) < 3 || p.Before.Tokens[name] == 0 || p.After.Tokens[name] == 0 {
		return false
	}
	call := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\s*\(`)
	return call.MatchString(p.Before.Side.LinesWithoutComments(p.Before.Line+1, p.Before.End)) || p.Before.Side.Language() == source.Ruby
}

// projectImportRE matches the import of a module of the project in a script. The group is its path.
var projectImportRE = regexp.MustCompile(`(?:\bfrom\s+|\brequire\(\s*|^\s*import\s+)["'](\.[^"']+)["']`)

// testHelperModuleRE matches the paths of modules that help tests, such as "./fixtures/cart".
var testHelperModuleRE = regexp.MustCompile(`(?i)(?:^|/)(?:test|spec|mock|fixture|helper|setup|util|__)|\.(?:json|css|snap)$`)

// isOnlyImport reports whether a module is the only one of the project that a test file
// imports, or the one that it is named after.
func isOnlyImport(f *facts.ChangedFile, module string) bool {
	all := map[string]bool{}
	for _, l := range f.Before().Lines() {
		if m := projectImportRE.FindStringSubmatch(l.Text); m != nil && (m[1] == module || !testHelperModuleRE.MatchString(m[1])) {
			all[strings.TrimSuffix(strings.TrimSuffix(m[1], ".js"), ".ts")] = true
		}
	}
	module = strings.TrimSuffix(strings.TrimSuffix(module, ".js"), ".ts")
	return all[module] && (len(all) == 1 || isPartOfPath(module, facts.SubjectName(f.Path)))
}
