package parsers

import (
	"io"
	"slices"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
)

// jsonLint are the reports of linters and compilers in JSON.
// The most specific stands first.
var jsonLint = slices.Concat([]Format{
	{Name: "sarif", Kind: LintReport, Detect: detectSARIF, Parse: parseSARIF},
	{Name: "golangci-lint", Kind: LintReport, Detect: detectGolangci, Parse: parseGolangci},
	{Name: "cargo", Kind: LintReport, Detect: detectCargo, Parse: parseCargo},
	{Name: "rustc", Kind: LintReport, Silent: true, Detect: detectRustc, Parse: parseRustc},
}, shapeFormats(lintShapes), []Format{
	{Name: "empty-list", Kind: LintReport, Detect: detectEmptyList, Parse: parseEmptyList},
	{Name: "go-vet-json", Kind: LintReport, Silent: true, Detect: detectVetJSON, Parse: parseVetJSON},
})

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
