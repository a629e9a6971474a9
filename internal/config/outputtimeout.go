package config

import (
	"fmt"
	"strings"
	"time"

	"supervise/internal/agentrun"
)

// The default timeouts without a person at the terminal. They stop an agent that waits forever
// for a login or for its service.
const (
	DefaultIdle        = 30 * time.Minute
	DefaultFirstOutput = 10 * time.Minute
)

// OutputTimeout is how long an agent may print nothing. 0 means auto: the default depends on
// whether a person is at the terminal. Negative values mean no limit.
type OutputTimeout time.Duration

// neverTimeout is a timeout that is switched off, invalidTimeout an invalid value in the file.
const (
	neverTimeout   OutputTimeout = -1
	invalidTimeout OutputTimeout = -2
)

// Set reads auto, 0, or a duration.
func (p *OutputTimeout) Set(text string) error {
	if text = strings.TrimSpace(text); text == "auto" {
		*p = 0
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration like 30m, 0 for no limit, or auto", text)
	}
	*p = OutputTimeout(d)
	if d == 0 {
		*p = neverTimeout
	}
	return nil
}

// String returns what Set reads.
func (p OutputTimeout) String() string {
	switch {
	case p == 0:
		return "auto"
	case p < 0:
		return "0"
	}
	return time.Duration(p).String()
}

// Type returns the name of the value in the help.
func (p OutputTimeout) Type() string { return "duration" }

// UnmarshalYAML reads what Set reads. [Settings.Validate] reports invalid values, because it
// knows the key.
func (p *OutputTimeout) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err != nil || p.Set(text) != nil {
		*p = invalidTimeout
	}
	return nil
}

// limit returns the configured limit, 0 if there is none.
func (p OutputTimeout) limit() time.Duration { return time.Duration(max(0, p)) }

// ApplyUnattended sets the default timeouts for a run without a person at the terminal. It
// returns a note about them, "" if both are configured.
func (l Limits) ApplyUnattended(s *agentrun.Setup) string {
	var defaults []string
	if l.FirstOutput == 0 {
		s.FirstOutputTimeout = DefaultFirstOutput
		defaults = append(defaults, fmt.Sprintf("%.0fm at its start (--first-output-timeout)", DefaultFirstOutput.Minutes()))
	}
	if l.IdleTimeout == 0 {
		s.IdleTimeout = DefaultIdle
		defaults = append(defaults, fmt.Sprintf("%.0fm later (--idle-timeout)", DefaultIdle.Minutes()))
	}
	if len(defaults) == 0 {
		return ""
	}
	return "unattended: an agent that prints nothing is stopped, after " + strings.Join(defaults, ", ") + "; 0 switches that off"
}
