package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/agentrun"
	"supervise/internal/criterion"
	"supervise/internal/ledger"
)

// The values of [Settings].Session.
const (
	sessionFresh    = "fresh"
	sessionContinue = "continue"
)

// untilQuality is the value of until that requires a quality score, defaultQuality the default
// of that score.
const (
	untilQuality   = "quality"
	untilGuarded   = "guarded" // requires tests that notice faults in the change
	defaultQuality = 90
)

// programs returns the agents of the settings: NAME or NAME:MODEL, separated by commas. The
// first one has the model of the settings by default. Later ones are the fallback of the first one.
func (s Settings) programs() (out []agentrun.Program) {
	if s.Agent == "" {
		return nil
	}
	for i, entry := range strings.Split(s.Agent, ",") {
		name, model, _ := strings.Cut(strings.TrimSpace(entry), ":")
		if i == 0 {
			model = cmp.Or(model, s.Model)
		}
		p, _ := agent.ByName(name) // validateAgents reports unknown names
		out = append(out, agentrun.Program{Name: name, Model: model, Continue: s.Session == sessionContinue, Yolo: s.Yolo, Checksum: p.Checksum})
	}
	return out
}

// validateAgents returns an error if one of the agents is invalid.
func (s Settings) validateAgents() error {
	seen := map[string]bool{}
	for _, program := range s.programs() {
		name := program.Name
		preset, err := agent.ByName(name)
		switch {
		case err != nil:
			return err
		case seen[name]:
			return fmt.Errorf("%s is there twice", name)
		case s.Session == sessionContinue && len(preset.Resume) == 0:
			return fmt.Errorf("%s cannot continue a session; session must be fresh", name)
		}
		seen[name] = true
	}
	return nil
}

// criterion returns the criterion of the settings.
func (s Settings) criterion() criterion.Criterion {
	var c criterion.Criterion
	switch s.Until {
	case "auto":
	case untilGuarded:
		c = criterion.Criterion{Kind: criterion.Green, Noticed: ledger.DefaultNoticed}
	case untilQuality:
		c = criterion.Criterion{Kind: criterion.Green, Quality: defaultQuality}
	default:
		c = criterion.Parse(s.Until)
	}
	c.Quality, c.Promise = cmp.Or(s.QualityTarget, c.Quality), s.Promise
	c.Noticed = cmp.Or(float64(s.MinNoticed), c.Noticed)
	c.ChangeCoverage = float64(s.MinChangeCoverage)
	return c
}

// agentConditions returns the conditions for the settings about the agent.
func (s Settings) agentConditions() []condition {
	err := s.validateAgents()
	kind := s.criterion().Kind
	alone := kind == criterion.Idle || kind == criterion.Never // no further criterion is possible
	needsAgent := " goes with agent, which names a known agent program: " + strings.Join(agent.Names(), ", ")
	return []condition{
		{err != nil, "agent", fmt.Sprint("agent: ", err)},
		{s.Agent == "" && s.Model != "", "model", "model" + needsAgent},
		{s.Agent == "" && s.Yolo, "yolo", "yolo" + needsAgent},
		{s.Agent == "" && s.Session == sessionContinue, "session", "session: continue" + needsAgent},
		{!slices.Contains([]string{sessionFresh, sessionContinue}, s.Session), "session", "session must be fresh or continue, not " + s.Session},
		{!(s.Limits.MaxCost >= 0), "limits.max_cost", "limits.max_cost must not be negative"},
		{s.Limits.MaxTokens < 0, "limits.max_tokens", "limits.max_tokens must not be negative"},
		{s.Limits.MaxWindow < 0, "limits.max_window", "limits.max_window is not a share between 0% and 100%, like 80%"},
		{s.Limits.MaxWait < 0, "limits.max_wait", "limits.max_wait must not be negative; 0 ends the loop at once if the agent's service fails"},
		{s.Limits.FirstWait <= 0, "limits.first_wait", "limits.first_wait must be above 0, like 10s"},
		{!(s.QualityTarget >= 0 && s.QualityTarget <= 100), "quality_target", "quality_target must be between 0 and 100"},
		{s.QualityTarget > 0 && alone, "quality_target", "quality_target goes with until auto, green, quality or a command, not with " + s.Until},
		{s.MinChangeCoverage < 0, "min_change_coverage", "min_change_coverage is not a share between 0% and 100%, like 80%"},
		{s.MinNoticed < 0, "min_mutants_noticed", "min_mutants_noticed is not a share between 0% and 100%, like 80%"},
		{s.MinNoticed > 0 && alone, "min_mutants_noticed", "min_mutants_noticed goes with until auto, green, guarded, quality or a command, not with " + s.Until},
		{s.criterion().Noticed > 0 && s.ChangeMutants.Off, "until", "until: guarded and min_mutants_noticed need mutants of the change, and change_mutants.off is true"},
		{s.Promise != "" && alone, "completion_promise", "completion_promise goes with until auto, green, quality or a command, not with " + s.Until},
		{s.Promise != "" && strings.TrimSpace(s.Promise) == "", "completion_promise", "completion_promise must be a text"},
	}
}
