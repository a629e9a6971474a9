package judge

import (
	"context"
	"slices"

	"supervise/detector"
	"supervise/internal/holdout"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/snapshot"
)

// HoldOut runs the tests that findings name as they were before the change. It reads
// the evidence, and adds how these tests end over the new code.
type HoldOut struct{}

// About describes the stage.
func (HoldOut) About() About {
	return About{"hold-out", "tests that findings name; as they were before, run over the new code in a copy", "whether each of them still passes"}
}

// Apply applies the stage.
func (HoldOut) Apply(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	if c.HoldOut.Never || v.Start == "" || len(v.Evidence.Tampering) == 0 {
		return v, nil
	}
	least := detector.High
	if c.Subject == Change {
		least = detector.Medium
	}
	in := c.History.Input(v.Iteration)
	t := c.trial(v.Start, v.Snapshot, v.Evidence)
	t.Findings, t.Before = detector.ToHoldOut(in, c.Rules, least), in.Previous.Set.Tests
	if v.Confirmation != nil {
		for _, id := range v.Confirmation.Flaky {
			t.Flaky[id] = true
		}
	}
	switch {
	case len(t.Findings) == 0 || c.unbuilt(v):
	case c.undoneWithout(in, t.Findings):
		v.HoldOut = t.Refused("the iteration is undone in any case")
	case broken(v.Set):
		v.HoldOut = t.Refused("the build is broken: " + v.Set.Build.FirstError)
	case v.Set.Tests == nil:
		v.HoldOut = t.Refused("the tests could not be read")
	default:
		c.progress("running tests as they were over the new code")
		var err error
		v.HoldOut, err = c.try(ctx, t)
		return v, err
	}
	return v, nil
}

// undoneWithout reports whether the iteration is undone whatever the hold-out run
// shows about the findings.
func (c Case) undoneWithout(in detector.Input, findings []detector.Tampering) bool {
	in.Tampering = slices.DeleteFunc(slices.Clone(in.Tampering), func(t detector.Tampering) bool { return slices.Contains(findings, t) })
	return c.Subject == Iteration && detector.Assess(in, c.Rules).Critical()
}

func (c Case) trial(was, is snapshot.ID, e *ledger.Evidence) holdout.Trial {
	flaky := map[metric.ID]bool{}
	for id, is := range c.History.Flaky {
		flaky[id] = is
	}
	return holdout.Trial{Workspace: c.Workspace, Was: was, Is: is, Evidence: *e, Flaky: flaky, Limit: c.HoldOut.Timeout}
}

// try runs a trial and masks its record. A fault of the machine, such as a full disk,
// ends nothing: the findings count without the trial then.
func (c Case) try(ctx context.Context, t holdout.Trial) (*ledger.HoldOut, error) {
	out, err := t.Run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil && c.Subject == Change:
		c.trouble("tests could not be run as they were", err)
		return nil, nil //nolint:nilnil // the change is judged without it
	case err != nil:
		c.trouble("run tests as they were", err)
		return t.Refused(c.Mask.String(err.Error())), nil
	}
	for i, r := range out.Results {
		out.Results[i].Why = c.Mask.String(r.Why)
	}
	out.Runs = c.Mask.Checks(out.Runs)
	return &out, nil
}
