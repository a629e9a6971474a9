// Package lintshape reads the reports of linters and compilers in XML and JSON.
// Most formats are rows of a table: the shape of a report says where its
// findings are.
package lintshape

import (
	"io"
	"slices"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/parsers/internal/parsed"
)

// Formats are the reports of linters and compilers in XML and JSON, the
// most specific first.
var Formats = slices.Concat(
	parsed.Rows(parsed.LintReport, parsed.XML, xmlFormats(xmlShapes)),
	parsed.Rows(parsed.LintReport, parsed.JSON, []parsed.Format{{
		Name: "golangci-lint", Detect: detectGolangci, Parse: parseGolangci, Marks: "`Issues` with `Report` or `FromLinter`", Tools: "golangci-lint 1 and 2",
		Note: "No severity is an error. `typecheck` is a type error.",
	}}),
	parsed.Rows(parsed.LintReport, parsed.JSON, shapeFormats(lintShapes)),
	parsed.Rows(parsed.LintReport, parsed.JSON, []parsed.Format{{
		Name: "empty-list", Loose: true, Detect: detectEmptyList, Parse: parseEmptyList, Marks: "`[]`", Tools: "many linters",
		Note: "A clean report.",
	}}),
)

func shapeFormats(shapes []lintShape) []parsed.Format {
	list := make([]parsed.Format, len(shapes))
	for i, s := range shapes {
		list[i] = s.format()
	}
	return list
}

// An empty pair of brackets within a line is talk.
func detectEmptyList(h sniff.Head) bool { return h.IsEmptyList() && emptyList.Match(h.Text) }

var emptyList = regexp.MustCompile(`(?m)^\s*\[\s*\]`)

// parseEmptyList reads [], which many linters write when they find nothing.
func parseEmptyList(r io.Reader) (parsed.Report, error) {
	l := parsed.NewFindingSet()
	found := false
	noise, err := jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error {
		found = true
		return j.Array(func() error {
			return j.Error("a list that was empty at its beginning holds something: its format is not known")
		})
	})
	return l.Report("", noise, parsed.NothingFound(err, found, "list"))
}
