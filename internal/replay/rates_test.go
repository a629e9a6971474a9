package replay

import (
	"math"
	"testing"
)

// The intervals are those of the literature: R. G. Newcombe, "Two-sided confidence
// intervals for the single proportion", Stat. Med. 17 (1998) 857–872, table I,
// method 3.
func TestIntervalsAreThoseOfTheLiterature(t *testing.T) {
	for _, test := range []struct {
		fired, of int
		low, high float64
	}{
		{81, 263, 25.53, 36.62},
		{15, 148, 6.24, 16.05},
		{0, 20, 0, 16.11},
		{1, 29, .61, 17.18},
		{29, 29, 88.30, 100},
	} {
		got := wilsonInterval(test.fired, test.of)
		if math.Abs(got.Low-test.low) > .006 || math.Abs(got.High-test.high) > .006 {
			t.Errorf("%d of %d: %.2f to %.2f, want %.2f to %.2f", test.fired, test.of, got.Low, got.High, test.low, test.high)
		}
	}
}

func TestFalseDiscoveryRateFollowsBayes(t *testing.T) {
	for _, test := range []struct {
		name                           string
		alarm, prevalence, sensitivity float64
		want                           float64
	}{
		{"Colquhoun 2014, figure 2", .05, .10, .8, .36},
		{"Colquhoun 2014, figure 1", .05, .01, .8, .861},
		{"never fires", 0, .05, 1, 0},
		{"all are at fault", .05, 1, 1, 0},
		{"fires always", 1, .2, 1, .8},
	} {
		if got := falseDiscoveryRate(test.alarm, test.prevalence, test.sensitivity); math.Abs(got-test.want) > .0005 {
			t.Errorf("%s: %.4f, want %.4f", test.name, got, test.want)
		}
	}
}
