package parsed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/metric"
)

// Findings come out of a packed list as they went in: those with more files than are
// kept once, and with a text longer than a chunk, too.
func TestPackedKeepsFindings(t *testing.T) {
	want := []metric.Finding{
		{},
		{Tool: "a", Rule: "b", Level: metric.Error, Type: true, File: "c", Line: 1 << 40, Column: 127, Message: "d", Text: "e"},
		{Level: metric.Note, Line: 128, Message: strings.Repeat("é", chunkSize)},
		{Tool: "a", Level: metric.Warning},
	}
	for i := range maxWords + 10 {
		want = append(want, metric.Finding{Level: metric.Warning, File: fmt.Sprint("file", i), Message: fmt.Sprint(i)})
	}
	var p PackedFindings
	for _, f := range want {
		p.Add(f)
	}
	if diff := cmp.Diff(want, p.Findings()); diff != "" || p.Len != len(want) {
		t.Errorf("%d findings (-want +got):\n%s", p.Len, diff)
	}
	var none PackedFindings
	if list := none.Findings(); list == nil || len(list) != 0 {
		t.Errorf("got %#v of no findings", list)
	}
}

// A finding is new as long as anything in it is.
func TestSeen(t *testing.T) {
	f := metric.Finding{Tool: "a", Rule: "b", Level: metric.Error, File: "c", Line: 1, Column: 2, Message: "d", Text: "e"}
	list := []metric.Finding{f}
	for _, change := range []func(*metric.Finding){
		func(f *metric.Finding) { f.Tool, f.Rule = "", "ab" }, func(f *metric.Finding) { f.Rule = "" }, func(f *metric.Finding) { f.Level = metric.Note },
		func(f *metric.Finding) { f.Type = true }, func(f *metric.Finding) { f.File = "d" }, func(f *metric.Finding) { f.Line, f.Column = 2, 1 },
		func(f *metric.Finding) { f.Line = 12 }, func(f *metric.Finding) { f.Message, f.Text = "e", "d" }, func(f *metric.Finding) { f.Text = "" },
	} {
		g := f
		change(&g)
		list = append(list, g)
	}
	var s SeenFindings
	for i, f := range append(list, list...) {
		if got := s.Add(f, ""); got != (i < len(list)) {
			t.Errorf("%d: %v is new: %v", i, f, got)
		}
	}
	if !s.Add(f, "more") || s.Add(f, "more") {
		t.Error("what is reported in addition to the finding does not distinguish it")
	}
}
