package reasoning

import (
	"fmt"
	"math"

	"supervise/detector"
)

// Override is a way to decide otherwise than supervise did.
type Override struct {
	When    string `json:"when"`
	Command string `json:"command,omitempty"` // for the shell
	Config  string `json:"config,omitempty"`  // for .supervise.yaml
}

// maxFindings bounds how many findings have a separate command.
const maxFindings = 5

// newOverrides returns all ways to decide otherwise, none for the baseline.
func newOverrides(in Input) []Override {
	if in.Iteration.Number == 0 {
		return []Override{}
	}
	return append(treeOverrides(in), findingOverrides(in)...)
}

// treeOverrides returns the ways to get another tree. An iteration of another orchestrator
// has none.
func treeOverrides(in Input) []Override {
	id, n, it := in.Iteration.LoopID, in.Iteration.Number, in.Iteration
	choose := Override{"take this iteration as the result of the loop", fmt.Sprintf("supervise select %s --use %d --reason \"…\"", id, n), ""}
	if it.Snapshot == "" {
		return []Override{choose}
	}
	choose.Command += " --apply"
	back := Override{"restore the rejected tree", fmt.Sprintf("supervise rollback %s %d", id, n), ""}
	if !it.Rejected {
		back = Override{"undo this iteration and all after it", fmt.Sprintf("supervise rollback %s %s", id, snapshotName(string(it.Start))), ""}
	}
	return []Override{{"see what it changed", fmt.Sprintf("supervise diff %s %d", id, n), ""}, back, choose}
}

// findingOverrides returns the ways to overrule each finding: acknowledge it, or change its rule.
func findingOverrides(in Input) (out []Override) {
	rules := map[string]bool{}
	for _, a := range in.Iteration.Assessment.Alerts {
		if a.Severity <= detector.Info || a.Acknowledged != nil {
			continue
		}
		if len(out) >= 2*maxFindings {
			break
		}
		out = append(out, Override{
			When:    fmt.Sprintf("%s was right here, for later loops", a.Rule),
			Command: fmt.Sprintf("supervise ack %s --reason \"…\"", a.ID()),
		})
		if !rules[a.Rule] {
			rules[a.Rule] = true
			out = append(out, Override{When: "it is always right in this project", Config: overrideSetting(a)})
		}
	}
	return out
}

// overrideSetting returns the line of the configuration under which the alert would not have
// fired, or would have rolled nothing back.
func overrideSetting(a detector.Alert) string {
	v := a.Values
	switch {
	case a.Severity <= detector.Medium:
		return fmt.Sprintf("rules: {%s: {off: true}}", a.Rule)
	case v.Threshold == nil || v.Delta == nil:
		return fmt.Sprintf("rules: {%s: {severity: medium}}", a.Rule)
	}
	if v.Path != "" {
		return fmt.Sprintf("rules: {%s: {paths: {%q: %d}}}", a.Rule, v.Path, int(math.Ceil(math.Abs(*v.Delta))))
	}
	need := math.Abs(*v.Delta)
	if rule, _ := detector.FindRule(a.Rule); rule.IsPercent() && v.Prev != nil && *v.Prev != 0 {
		need = 100 * need / math.Abs(*v.Prev)
	}
	return fmt.Sprintf("rules: {%s: {threshold: %d}}", a.Rule, int(math.Ceil(need)))
}
