package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/internal/agent"
	"supervise/internal/agentrun"
	"supervise/internal/criterion"
)

// The values of [Settings].Session.
const (
	sessionFresh    = "fresh"
	sessionContinue = "continue"
)

// untilQuality is the criterion that a quality score is reached, and
// defaultQuality that score where none is given.
const (
	untilQuality   = "quality"
	defaultQuality = 90
)

// program is how a known agent is started; its zero value is none.
func (s Settings) program() agentrun.Program {
	if s.Agent == "" {
		return agentrun.Program{}
	}
	return s.programs()[0]
}

// programs are the agents of the settings, NAME or NAME:MODEL with commas between. The model
// of the settings is that of the first.
func (s Settings) programs() (out []agentrun.Program) {
	for i, one := range strings.Split(s.Agent, ",") {
		name, model, _ := strings.Cut(strings.TrimSpace(one), ":")
		if i == 0 {
			model = cmp.Or(model, s.Model)
		}
		p, _ := agent.ByName(name) // agentConditions has said what is wrong with it
		out = append(out, agentrun.Program{Name: name, Model: model, Continue: s.Session == sessionContinue, Yolo: s.Yolo, Checksum: p.Checksum})
	}
	return out
}

// fallback are all agents but the first.
func (s Settings) fallback() []agentrun.Program {
	if all := s.programs(); len(all) > 1 {
		return all[1:]
	}
	return nil
}

// wrongAgent says what is wrong with one of the agents.
func (s Settings) wrongAgent() error {
	seen := map[string]bool{}
	for _, x := range s.programs() {
		p, err := agent.ByName(x.Name)
		switch {
		case err != nil:
			return err
		case seen[x.Name]:
			return fmt.Errorf("%s is there twice", x.Name)
		case s.Session == sessionContinue && len(p.Resume) == 0:
			return fmt.Errorf("%s cannot continue a session; session must be fresh", x.Name)
		}
		seen[x.Name] = true
	}
	return nil
}

// until is the criterion of the settings.
func (s Settings) until() criterion.Criterion {
	var u criterion.Criterion
	switch s.Until {
	case "auto":
	case untilQuality:
		u = criterion.Criterion{Kind: criterion.Green, Quality: defaultQuality}
	default:
		u = criterion.Parse(s.Until)
	}
	u.Quality, u.Promise = cmp.Or(s.QualityTarget, u.Quality), s.Promise
	return u
}

// agentConditions are those of the settings about the agent.
func (s Settings) agentConditions() []condition {
	err := s.wrongAgent()
	kind := s.until().Kind
	alone := kind == criterion.Idle || kind == criterion.Never
	return []condition{
		{s.Agent != "" && err != nil, "agent", fmt.Sprint("agent: ", err)},
		{s.Agent == "" && s.Model != "", "model", "model goes with agent, which names a known agent program: " + strings.Join(agent.Names(), ", ")},
		{s.Agent == "" && s.Yolo, "yolo", "yolo goes with agent, which names a known agent program: " + strings.Join(agent.Names(), ", ")},
		{s.Agent == "" && s.Session == sessionContinue, "session", "session: continue goes with agent, which names a known agent program: " + strings.Join(agent.Names(), ", ")},
		{!slices.Contains([]string{sessionFresh, sessionContinue}, s.Session), "session", "session must be fresh or continue, not " + s.Session},
		{!(s.Limits.MaxCost >= 0), "limits.max_cost", "limits.max_cost must not be negative"},
		{s.Limits.MaxTokens < 0, "limits.max_tokens", "limits.max_tokens must not be negative"},
		{s.Limits.MaxWindow < 0, "limits.max_window", "limits.max_window is no share between 0% and 100%, like 80%"},
		{s.Limits.MaxWait < 0, "limits.max_wait", "limits.max_wait must not be negative; 0 ends the loop at once where the agent's service fails"},
		{s.Limits.FirstWait <= 0, "limits.first_wait", "limits.first_wait must be above 0, like 10s"},
		{!(s.QualityTarget >= 0 && s.QualityTarget <= 100), "quality_target", "quality_target must be between 0 and 100"},
		{s.QualityTarget > 0 && alone, "quality_target", "quality_target goes with until auto, green, quality or a command, not with " + s.Until},
		{s.Promise != "" && alone, "completion_promise", "completion_promise goes with until auto, green, quality or a command, not with " + s.Until},
		{s.Promise != "" && strings.TrimSpace(s.Promise) == "", "completion_promise", "completion_promise must be a text"},
	}
}

// maxWait is the limit of a loop: without one it would take the default.
func (l Limits) maxWait() time.Duration {
	if l.MaxWait == 0 {
		return -1
	}
	return l.MaxWait
}
