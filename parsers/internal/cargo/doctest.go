package cargo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// rustDoctest is the name of an example in the documentation of a Rust crate.
var rustDoctest = regexp.MustCompile(`^(\S.*?) - (.*?) ?\(line (\d+)\)`)

// nameDoctests gives the examples of the suite names that do not change when
// lines are added above them: the file, what they document, and a number where
// that has several.
func (s *libtestSuite) nameDoctests() { nameDoctests(s.cases) }

func nameDoctests(cases []metric.Test) {
	items := map[string][]*metric.Test{}
	for i := range cases {
		c := &cases[i]
		if !strings.Contains(c.Name, "(line ") {
			continue
		}
		m := rustDoctest.FindStringSubmatch(c.Name)
		if m == nil {
			continue
		}
		line, err := strconv.Atoi(m[3])
		if err != nil {
			continue
		}
		c.Name, c.File, c.Line = m[1]+" - "+m[2], parsed.Slashed(m[1]), line
		items[c.Name] = append(items[c.Name], c)
	}
	for _, several := range items {
		if len(several) == 1 {
			continue
		}
		slices.SortStableFunc(several, func(a, b *metric.Test) int { return cmp.Compare(a.Line, b.Line) })
		for i, c := range several {
			c.Name += fmt.Sprintf("[%d]", i+1)
		}
	}
}
