package detector_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"supervise/detector"
	"supervise/detector/internal/loss"
	"supervise/metric"
)

func TestBetween(t *testing.T) {
	ids := func(names ...string) []metric.ID {
		var out []metric.ID
		for _, n := range names {
			out = append(out, id(n))
		}
		return out
	}
	p, f, s := metric.Passed, metric.Failed, metric.Skipped
	renamed := func(from, to string) detector.Loss {
		return detector.Loss{ID: id(from), Explanation: loss.SimilarBody, Successor: id(to)}
	}
	for _, tt := range []struct {
		name        string
		before, now *metric.Tests
		explained   []detector.Loss
		want        detector.TestChanges
	}{
		{
			name: "each kind", before: suite(outcome("A", f), outcome("B", p), outcome("C", p), outcome("D", p)),
			now:  suite(outcome("A", p), outcome("B", f), outcome("C", s), outcome("E", p)),
			want: detector.TestChanges{New: ids("E"), Gone: ids("D"), NewlyPassing: ids("A"), NewlyFailing: ids("B"), NewlySkipped: ids("C")},
		},
		{
			name: "renamed, and no new one", before: suite(outcome("A", p)), now: suite(outcome("Z", p)),
			explained: []detector.Loss{renamed("A", "Z")},
			want:      detector.TestChanges{Gone: ids("A"), Explained: []detector.Loss{renamed("A", "Z")}},
		},
		{
			name: "renamed twice, and fixed", before: suite(outcome("A", f)), now: suite(outcome("Z", p)),
			explained: []detector.Loss{renamed("A", "M"), renamed("M", "Z")},
			want:      detector.TestChanges{Gone: ids("A"), NewlyPassing: ids("Z"), Explained: []detector.Loss{renamed("A", "Z")}},
		},
		{
			name: "renamed, and broken", before: suite(outcome("A", p)), now: suite(outcome("Z", f)),
			explained: []detector.Loss{renamed("A", "Z")},
			want:      detector.TestChanges{Gone: ids("A"), NewlyFailing: ids("Z"), Explained: []detector.Loss{renamed("A", "Z")}},
		},
		{
			name: "renamed, and lost then", before: suite(outcome("A", p), outcome("B", p)), now: suite(outcome("B", p)),
			explained: []detector.Loss{renamed("A", "M")},
			want:      detector.TestChanges{Gone: ids("A")},
		},
		{
			name: "its code went as well", before: suite(outcome("A", p), outcome("B", p)), now: suite(outcome("B", p)),
			explained: []detector.Loss{{ID: id("A"), Explanation: loss.SubjectGone}},
			want:      detector.TestChanges{Gone: ids("A"), Explained: []detector.Loss{{ID: id("A"), Explanation: loss.SubjectGone}}},
		},
		{
			name: "renamed, and then its code went", before: suite(outcome("A", p), outcome("B", p)), now: suite(outcome("B", p)),
			explained: []detector.Loss{renamed("A", "M"), {ID: id("M"), Explanation: loss.SubjectGone}},
			want:      detector.TestChanges{Gone: ids("A"), Explained: []detector.Loss{{ID: id("A"), Explanation: loss.SubjectGone}}},
		},
		{
			name: "to and fro", before: suite(outcome("A", p), outcome("B", p)), now: suite(outcome("B", p)),
			explained: []detector.Loss{renamed("A", "M"), renamed("M", "A")},
			want:      detector.TestChanges{Gone: ids("A")},
		},
		{
			name: "three merged into one", before: suite(passing("A", "B", "C")...), now: suite(passing("T")...),
			explained: []detector.Loss{renamed("A", "T"), renamed("B", "T"), renamed("C", "T")},
			want:      detector.TestChanges{Gone: ids("A", "B", "C"), Explained: []detector.Loss{renamed("A", "T"), renamed("B", "T"), renamed("C", "T")}},
		},
		{name: "not measured", before: suite(passing("A")...)},
		{name: "nothing", before: suite(passing("A")...), now: suite(passing("A")...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, detector.CompareTests(tt.before, tt.now, tt.explained), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
