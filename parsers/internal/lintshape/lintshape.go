// Package lintshape reads the reports of linters and compilers in XML and JSON. Almost every
// format is a row in a table of shapes, which describes where the findings of a report are and
// what identifies it.
//
// For JSON, the tables of [lintShape] are in shapes.go, shapesshared.go and shapesother.go. A
// shapeReader (jsonshape.go) walks through the document, decodes only the wanted members
// (jsonwanted.go) of each [lintItem] (jsonitem.go), and makes findings of them. For XML, the
// table of [xmlShape] is in shapesxml.go and its reader in xmlshape.go. Only golangci-lint has
// a separate reader.
package lintshape

import (
	"io"
	"slices"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/parsers/internal/parsed"
)

// Formats lists the reports of linters and compilers in XML and JSON, the most specific
// first.
var Formats = slices.Concat(
	parsed.SetKind(parsed.LintReport, parsed.XML, xmlFormats(xmlShapes)),
	parsed.SetKind(parsed.LintReport, parsed.JSON, []parsed.Format{{
		Name: "golangci-lint", Detect: detectGolangci, Parse: parseGolangci, Marks: "`Issues` with `Report` or `FromLinter`", Tools: "golangci-lint 1 and 2",
		Note: "No severity is an error. `typecheck` is a type error.",
	}}),
	parsed.SetKind(parsed.LintReport, parsed.JSON, shapeFormats(lintShapes)),
	parsed.SetKind(parsed.LintReport, parsed.JSON, []parsed.Format{{
		Name: "empty-list", Loose: true, Detect: detectEmptyList, Parse: parseEmptyList, Marks: "`[]`", Tools: "many linters",
		Note: "A clean report.",
	}}),
)

// shapeFormats returns the formats of the shapes.
func shapeFormats(shapes []lintShape) []parsed.Format {
	list := make([]parsed.Format, len(shapes))
	for i, s := range shapes {
		list[i] = s.toFormat()
	}
	return list
}

// detectEmptyList requires the empty list at the start of a line. Other empty brackets
// may be part of a message.
func detectEmptyList(h sniff.Head) bool { return h.IsEmptyList() && emptyListPattern.Match(h.Text) }

// emptyListPattern matches an empty list at the start of a line: "[]" or "[ ]".
var emptyListPattern = regexp.MustCompile(`(?m)^\s*\[\s*\]`)

// parseEmptyList reads [], which many linters write if they find nothing.
func parseEmptyList(r io.Reader) (parsed.Report, error) {
	l := parsed.NewFindingSet()
	found := false
	noise, err := jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error {
		found = true
		return j.Array(func() error {
			return j.Error("a list that was empty at its beginning holds something: its format is not known")
		})
	})
	return l.Report("", noise, parsed.RequireFound(err, found, "list"))
}
