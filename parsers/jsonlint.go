package parsers

import (
	"io"
	"slices"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
)

// lintFormats are the reports of linters and compilers in XML and JSON, the
// most specific first.
var lintFormats = slices.Concat(
	rows(LintReport, XML, xmlFormats(xmlShapes)),
	rows(LintReport, JSON, []Format{{Name: "golangci-lint", Detect: detectGolangci, Parse: parseGolangci}}),
	rows(LintReport, JSON, shapeFormats(lintShapes)),
	rows(LintReport, JSON, []Format{{Name: "empty-list", Loose: true, Detect: detectEmptyList, Parse: parseEmptyList}}),
)

func shapeFormats(shapes []lintShape) []Format {
	list := make([]Format, len(shapes))
	for i, s := range shapes {
		list[i] = s.format()
	}
	return list
}

// An empty pair of brackets within a line is talk.
func detectEmptyList(h sniff.Head) bool { return h.EmptyList() && emptyList.Match(h.Text) }

var emptyList = regexp.MustCompile(`(?m)^\s*\[\s*\]`)

// parseEmptyList reads [], which many linters write when they find nothing.
func parseEmptyList(r io.Reader) (Report, error) {
	l := newLint()
	found := false
	noise, err := jsonstream.Documents(r, func(j *jsonstream.Reader) error {
		found = true
		return j.Array(func() error {
			return j.Error("a list that was empty at its beginning holds something: its format is not known")
		})
	})
	return l.report("", noise, nothingFound(err, found, "list"))
}
