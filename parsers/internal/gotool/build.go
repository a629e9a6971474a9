package gotool

import (
	"io"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

// goClause is in sources as well.
var goClause = regexp.MustCompile(`^package \S+$`)

func detectVet(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool {
		return strings.HasPrefix(l, "vet: ") || strings.HasPrefix(l, "# [") && parsed.GoHeader.MatchString(l)
	})
}

func detectBuild(h sniff.Head) bool {
	return h.MatchesLine(parsed.GoHeader.MatchString) && h.MatchesLine(parsed.GoPlace.MatchString) || h.MatchesLine(parsed.GoLoad.MatchString) ||
		h.MatchesLine(func(l string) bool { return parsed.GoOther.MatchString(l) && !goClause.MatchString(l) })
}

func parseVet(r io.Reader) (parsed.Report, error) { return parseGoText(r, "go vet") }

func parseBuild(r io.Reader) (parsed.Report, error) { return parseGoText(r, "go build") }

func parseGoText(r io.Reader, tool string) (parsed.Report, error) {
	g := parsed.GoText{Only: tool, Loose: true}
	err := textstream.EachLine(r, func(l textstream.Line) {
		g.Line(string(l.Text[:min(len(l.Text), parsed.MaxLine)]))
	})
	return parsed.Report{Producer: tool, Lint: g.Lint()}, err
}
