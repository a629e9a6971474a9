package detector_test

import (
	"testing"

	"supervise/detector"
	"supervise/metric"
	"supervise/source"
)

// A person's word that a test is wrong covers what is found about its content, and neither
// its loss nor anything about other tests.
func TestGrantCoversContentOnly(t *testing.T) {
	id := metric.ID{Suite: "calc", Name: "Test0000"}
	defs := []detector.TestSource{
		{File: "calc/calc_test.go", Def: source.TestDef{Name: "Test0000"}}, {File: "calc/calc_test.go", Def: source.TestDef{Name: "Test0001"}},
	}
	weakened := func(name string) detector.Tampering {
		return detector.Tampering{Pattern: "TP-06", Type: "assertion_removed", Severity: detector.High, File: "calc/calc_test.go", Test: name}
	}
	for _, tt := range []struct {
		name    string
		in      func(*detector.Input)
		rule    string
		granted metric.ID
		covered bool
	}{
		{"its text", func(in *detector.Input) { in.Tampering = []detector.Tampering{weakened("Test0000")} }, "tamper:assertion_removed", id, true},
		{"of another test", func(in *detector.Input) { in.Tampering = []detector.Tampering{weakened("Test0001")} }, "tamper:assertion_removed", id, false},
		{"of a file as a whole", func(in *detector.Input) { in.Tampering = []detector.Tampering{weakened("")} }, "tamper:assertion_removed", id, false},
		{"of the same name in another suite", func(in *detector.Input) { in.Tampering = []detector.Tampering{weakened("Test0000")} }, "tamper:assertion_removed", metric.ID{Suite: "text", Name: "Test0000"}, false},
		{"a name that is a pattern", func(in *detector.Input) { in.Tampering = []detector.Tampering{weakened("Test0000")} }, "tamper:assertion_removed", metric.ID{Suite: "calc", Name: "*"}, false},
		{"its deletion", func(in *detector.Input) { in.Current.Set = metric.Set{Tests: numberedTests(1, 4, 4)} }, "test_count_decreased", id, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := step(measured(4, 4, 80), measured(4, 4, 80))
			in.Before, in.After = defs, defs
			tt.in(&in)
			in.Granted = []detector.Grant{{Test: tt.granted, Reason: "it is wrong"}}
			got, ok := alertOf(detector.Assess(in, detector.DefaultOptions()), tt.rule)
			if !ok {
				t.Fatalf("%s is not raised", tt.rule)
			}
			if k := got.Acknowledged; (k != nil) != tt.covered || k != nil && k.Reason != "it is wrong" {
				t.Errorf("acknowledged as %+v, want covered: %v", k, tt.covered)
			}
		})
	}
}
