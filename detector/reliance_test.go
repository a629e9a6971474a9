package detector_test

import (
	"slices"
	"testing"

	"supervise/detector"
	"supervise/metric"
)

// A setting is CRITICAL if faults planted in the code are not noticed with it.
func TestRelianceOfLintFindings(t *testing.T) {
	in := goalCase{"", metric.Failed, metric.Passed, detector.Passed, true, false}.input()
	in.Reliances = []detector.Reliance{{On: detector.OnBuild, Files: []string{"pyproject.toml"}, Findings: 1}, {On: detector.OnData, Files: []string{"a.pyi"}, Findings: 2, SwitchesOff: true}}
	want := []string{"HIGH 1 lint finding of the base is gone only with pyproject.toml (configuration of the build)", "CRITICAL 2 lint findings of the base are gone only with a.pyi (data), which switches the check off: it does not notice faults planted in the code"}
	var got []string
	for _, a := range detector.Assess(in, detector.Options{}).Alerts {
		if a.Rule == detector.ReliesOn {
			got = append(got, a.Severity.String()+" "+a.Message())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestRelianceSeverity(t *testing.T) {
	for _, tt := range []struct {
		on     detector.RelianceKind
		recent bool
		want   detector.Severity
		text   string
	}{
		{detector.OnManifest, false, detector.Info, "TestSum, which failed at the base, passes only with f (declared packages)"},
		{detector.OnSources, false, detector.Medium, "TestSum, which failed at the base, passes only with f (names new source files)"},
		{detector.OnBuild, false, detector.High, "TestSum, which failed at the base, passes only with f (configuration of the build)"},
		{detector.OnData, false, detector.High, "TestSum, which failed at the base, passes only with f (data)"},
		{detector.OnTypes, false, detector.High, "TestSum, which failed at the base, passes only with f (types that became Any, or are gone)"},
		{detector.OnIgnored, false, detector.Medium, "TestSum, which failed at the base, passes only with f (ignored by git)"},
		{detector.OnIgnored, true, detector.Critical, "TestSum, which failed at the base, passes only with f (ignored by git)"},
		{detector.OnEnvironment, true, detector.Critical, "TestSum, which failed at the base, passes only with something outside the tree, because the code from before the change passes now too"},
	} {
		in := goalCase{"", metric.Failed, metric.Passed, detector.Passed, true, false}.input()
		in.Reliances = []detector.Reliance{{On: tt.on, Files: []string{"f"}, Tests: []metric.ID{{Name: "TestSum"}}, Recent: tt.recent}}
		found := 0
		for _, a := range detector.Assess(in, detector.Options{}).Alerts {
			if a.Rule != detector.ReliesOn {
				continue
			}
			found++
			if a.Severity != tt.want || a.Message() != tt.text {
				t.Errorf("%s, recent %v: %s %q", tt.on, tt.recent, a.Severity, a.Message())
			}
		}
		if found != 1 {
			t.Errorf("%s: %d findings", tt.on, found)
		}
	}
}
