package framework

import (
	"sync"

	"supervise/internal/regexp"
)

// Placeholder describes a failing case that a framework reports for what could not run: a file, a
// hook, a data provider or the run itself. It is not a test. A case without a name, or with the
// name of its file or suite, needs no row. The expressions match parts of the case; an empty one
// matches any text.
type Placeholder struct {
	Class, Name, Message expression

	InModule bool // the name is that of a Python module, or has it in brackets
	StopsRun bool // the run ended with it, so that tests of other suites did not run either
}

// expression is a regular expression, "" for one that matches any text.
type expression string

// placeholder is a row with its expressions, nil for "".
type placeholder struct {
	Placeholder
	class, name, message *regexp.Regexp
}

// placeholders are those of all frameworks. Many reports do not say which tool wrote them, so each
// row is specific enough for any report.
var placeholders = sync.OnceValue(func() []placeholder {
	var all []placeholder
	for _, f := range rows {
		for _, p := range f.Placeholders {
			all = append(all, placeholder{p, p.Class.compile(), p.Name.compile(), p.Message.compile()})
		}
	}
	return all
})

func (e expression) compile() *regexp.Regexp {
	if e == "" {
		return nil
	}
	return regexp.MustCompile(string(e))
}

// PlaceholderFor returns the row of a failing case that is not a test, false if there is none.
func PlaceholderFor(class, name, message string) (Placeholder, bool) {
	matches := func(re *regexp.Regexp, text string) bool { return re == nil || re.MatchString(text) }
	for _, p := range placeholders() {
		if matches(p.name, name) && matches(p.class, class) && matches(p.message, message) {
			return p.Placeholder, true
		}
	}
	return Placeholder{}, false
}

// describePlaceholders returns what the placeholders of a framework match, for the documentation.
func describePlaceholders(f Framework) string {
	var list []string
	for _, p := range f.Placeholders {
		for _, e := range []expression{p.Class, p.Name, p.Message} {
			if e != "" {
				list = append(list, string(e))
			}
		}
	}
	return inBackticks(list)
}

// unittestPlaceholders are modules that unittest could not load, and failed fixtures of classes and
// modules.
var unittestPlaceholders = []Placeholder{{Class: `^unittest\.(loader\.|suite\._ErrorHolder)`, InModule: true}}

// junitPlaceholders are classes that could not be set up, and classes of JUnit 3 without tests.
var junitPlaceholders = []Placeholder{
	{Name: `^(initializationError|classMethod)$`},
	{Class: `^junit\.framework\.TestSuite\$\d+$`, Name: `^warning$`},
	{Name: `^warning$`, Message: `\bjunit\.framework\.AssertionFailedError\b`},
}

// hookPlaceholders are the hooks of mocha, and what Cypress reports of a file.
var hookPlaceholders = []Placeholder{
	{Name: `"(before|after) (all|each)" hook`},
	{Name: `An uncaught error was detected outside of a test$`},
}
