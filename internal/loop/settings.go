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

// Settings are the settings of a loop. They are fixed at its start and stored in its folder. A
// resumed loop uses the stored ones, even if the configuration in the tree has changed.
type Settings struct {
	agentrun.Setup
	judge.Settings

	// Origin is the tree that the loop's tree is a copy of, "" if it is not a copy.
	Origin        string              `json:"origin,omitempty"`
	MaxIterations int                 `json:"max_iterations"` // at least 1; 0 in a watched session
	Until         criterion.Criterion `json:"until"`
	Level         *prompt.Level       `json:"reinforcement,omitempty"` // fixed reinforcement level; nil follows the iteration
	// Escalation is how the level rises with the number of the iteration. PlateauBelow is the
	// change of the score, in [0,1], below which the last iteration counts as a plateau for the
	// level; 0 means as the rules say.
	Escalation   prompt.Escalation `json:"escalation,omitempty"`
	PlateauBelow float64           `json:"plateau_below,omitempty"`
	Budget       Budget            `json:"budget,omitzero"` // limits the time of supervise itself
	// EvidenceTokens is the maximum size of the evidence in the prompt; 0 means no evidence.
	EvidenceTokens int `json:"evidence_tokens,omitempty"`
	// Texts replace built-in texts of prompts, by name.
	Texts   map[string]string `json:"prompt_texts,omitempty"`
	NoApply bool              `json:"no_apply,omitempty"` // do not restore the selected tree
	// StopOnDiminishing ends the loop when two gains in a row are small.
	StopOnDiminishing bool `json:"stop_on_diminishing,omitempty"`
	NoRepeat          bool `json:"baseline_once,omitempty"` // measure the baseline once, however short it is

	Approval Approval         `json:"approval,omitzero"`
	Notify   notify.Settings  `json:"notify,omitzero"`
	Snapshot snapshot.Options `json:"snapshot"`
	MaxStore int64            `json:"max_store_bytes,omitempty"` // above it, old snapshots are dropped; 0 means never
}

// Budget limits the time of supervise itself, without agent and checks. Exceeding it is only
// logged. A zero limit means no limit.
type Budget struct {
	Latency time.Duration `json:"latency_ns,omitempty"`       // per iteration
	Percent float64       `json:"overhead_percent,omitempty"` // percentage of the duration of the iteration
}

// Exceeded says how an iteration exceeds the budget, "" if it does not. own is the time of
// supervise itself, and total that of the iteration.
func (b Budget) Exceeded(own, total time.Duration) string {
	switch share := 100 * float64(own) / float64(max(total, 1)); {
	case b.Latency > 0 && own > b.Latency:
		return fmt.Sprintf("supervise's own work took %s, more than detection_latency_budget_ms allows (%s)", own.Round(time.Millisecond), b.Latency)
	case b.Percent > 0 && share > b.Percent:
		return fmt.Sprintf("supervise's own work took %.1f %% of the iteration, more than max_integration_overhead_percentage allows (%v %%)", share, b.Percent)
	}
	return ""
}

// configuration returns the settings that the state of the loop shows to users.
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

// OverrideLimits replaces the limits and approval settings by those of l that are not zero.
func (s *Settings) OverrideLimits(l Settings) {
	s.MaxIterations, s.MaxTime = cmp.Or(l.MaxIterations, s.MaxIterations), cmp.Or(l.MaxTime, s.MaxTime)
	s.MaxCost, s.MaxTokens, s.MaxWindow = cmp.Or(l.MaxCost, s.MaxCost), cmp.Or(l.MaxTokens, s.MaxTokens), cmp.Or(l.MaxWindow, s.MaxWindow)
	s.Approval.Policy, s.Approval.Unattended = cmp.Or(l.Approval.Policy, s.Approval.Policy), s.Approval.Unattended || l.Approval.Unattended
}

// MovedFolders returns the folders outside the tree that have other paths than in the stored
// settings.
func (s Settings) MovedFolders(stored Settings) (out []ledger.FolderMove) {
	for _, m := range []ledger.FolderMove{{From: stored.Origin, To: s.Origin}, {From: stored.Hidden.Dir, To: s.Hidden.Dir}} {
		if m.From != "" && m.To != "" && m.From != m.To {
			out = append(out, m)
		}
	}
	return out
}

// forJSON returns the settings in the form in which they are stored.
func (s Settings) forJSON() Settings {
	s.Setup = s.Setup.ForJSON()
	return s
}
