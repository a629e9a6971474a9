package loop

import (
	"cmp"
	"fmt"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/criterion"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/notify"
	"supervise/internal/prompt"
	"supervise/snapshot"
)

// Settings are what a loop was asked to do. They are fixed when it starts and
// kept in its folder: a loop that is resumed follows them, whatever became of
// the configuration in the tree meanwhile.
type Settings struct {
	agentrun.Setup
	judge.Settings

	// Origin is the tree of which the loop's is a copy, "" for none.
	Origin        string              `json:"origin,omitempty"`
	MaxIterations int                 `json:"max_iterations"` // at least 1; 0 in a session that is watched
	Until         criterion.Criterion `json:"until"`
	Level         *prompt.Level       `json:"reinforcement,omitempty"` // fixed reinforcement level; nil follows the iteration
	// Escalation is how the level rises with the number of the iteration, and
	// PlateauBelow the change of the score, in [0,1], below which the last iteration
	// counts as a plateau for it; 0: as the rules say.
	Escalation   prompt.Escalation `json:"escalation,omitempty"`
	PlateauBelow float64           `json:"plateau_below,omitempty"`
	Budget       Budget            `json:"budget,omitzero"` // over which supervise warns of its own work
	// EvidenceTokens is the budget of what the prompt tells of the measurements; 0: nothing
	// is told.
	EvidenceTokens int `json:"evidence_tokens,omitempty"`
	// Texts are those of prompts that replace the built-in ones.
	Texts   map[string]string `json:"prompt_texts,omitempty"`
	NoApply bool              `json:"no_apply,omitempty"` // leave the tree as the last iteration left it
	// StopOnDiminishing ends the loop when two gains in a row are small.
	StopOnDiminishing bool `json:"stop_on_diminishing,omitempty"`
	NoRepeat          bool `json:"baseline_once,omitempty"` // measure the baseline once, however short it is

	Approval Approval         `json:"approval,omitzero"`
	Notify   notify.Settings  `json:"notify,omitzero"`
	Snapshot snapshot.Options `json:"snapshot"`
	MaxStore int64            `json:"max_store_bytes,omitempty"` // over it old snapshots are dropped; 0: never
}

// Budget bounds supervise's own work, agent and checks excluded. What is over it is
// logged, and changes nothing.
type Budget struct {
	Latency time.Duration `json:"latency_ns,omitempty"`       // of one iteration; 0: none
	Percent float64       `json:"overhead_percent,omitempty"` // of the whole iteration; 0: none
}

// Exceeded says what of an iteration is over the budget, "" for nothing.
func (b Budget) Exceeded(own, whole time.Duration) string {
	switch share := 100 * float64(own) / float64(max(whole, 1)); {
	case b.Latency > 0 && own > b.Latency:
		return fmt.Sprintf("supervise's own work took %s, more than detection_latency_budget_ms allows (%s)", own.Round(time.Millisecond), b.Latency)
	case b.Percent > 0 && share > b.Percent:
		return fmt.Sprintf("supervise's own work took %.1f %% of the iteration, more than max_integration_overhead_percentage allows (%v %%)", share, b.Percent)
	}
	return ""
}

func (s Settings) configuration() ledger.Configuration {
	c := ledger.Configuration{
		MaxIterations: s.MaxIterations, TimeoutMinutes: s.MaxTime.Minutes(), MaxRetries: s.Recovery.MaxRetries, Mode: string(s.Rules.Mode),
		OnStall: "continue", PlanHash: s.Plan.Hash(),
	}
	switch {
	case s.Recovery.StopOnCycle:
		c.OnStall = "stop"
	case s.Recovery.StopOnStall:
		c.OnStall = "auto"
	case s.Recovery.AskOnStall:
		c.OnStall = "ask"
	}
	for _, check := range s.Plan.Checks {
		c.Checks = append(c.Checks, string(check.Kind)+": "+check.CommandLine())
	}
	return c
}

// OverrideLimits replaces limits, and what is done about questions, by those of l that are given.
func (s *Settings) OverrideLimits(l Settings) {
	s.MaxIterations, s.MaxTime = cmp.Or(l.MaxIterations, s.MaxIterations), cmp.Or(l.MaxTime, s.MaxTime)
	s.MaxCost, s.MaxTokens, s.MaxWindow = cmp.Or(l.MaxCost, s.MaxCost), cmp.Or(l.MaxTokens, s.MaxTokens), cmp.Or(l.MaxWindow, s.MaxWindow)
	s.Approval.Policy, s.Approval.Unattended = cmp.Or(l.Approval.Policy, s.Approval.Policy), s.Approval.Unattended || l.Approval.Unattended
}

// MovedFolders are the folders outside of the tree that the settings name, and that lie elsewhere
// than kept settings say.
func (s Settings) MovedFolders(kept Settings) (out []ledger.FolderMove) {
	for _, m := range []ledger.FolderMove{{From: kept.Origin, To: s.Origin}, {From: kept.Hidden.Dir, To: s.Hidden.Dir}} {
		if m.From != "" && m.To != "" && m.From != m.To {
			out = append(out, m)
		}
	}
	return out
}

// forJSON returns the settings as they can be written down.
func (s Settings) forJSON() Settings {
	s.Setup = s.Setup.ForJSON()
	return s
}
