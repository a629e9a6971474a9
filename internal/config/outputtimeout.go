package config

import (
	"fmt"
	"strings"
	"time"

	"supervise/internal/agentrun"
)

// How long an agent may print nothing where nobody sits at the terminal and nothing else
// was set: one that waits for a login, or for its service without an end, would sit there
// all night.
const (
	DefaultIdle        = 30 * time.Minute
	DefaultFirstOutput = 10 * time.Minute
)

// OutputTimeout is how long an agent may print nothing: a time, never ending where it is
// negative, or by default, where it is 0, what depends on whether somebody is there.
type OutputTimeout time.Duration

// patient is the value of a limit that was switched off, and unread that of one in the file
// that is none.
const (
	patient OutputTimeout = -1
	unread  OutputTimeout = -2
)

// Set reads auto, 0, or a duration.
func (p *OutputTimeout) Set(text string) error {
	if text = strings.TrimSpace(text); text == "auto" {
		*p = 0
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no duration like 30m, nor 0 for no limit, nor auto", text)
	}
	if *p = OutputTimeout(d); d == 0 {
		*p = patient
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

// Type names the values for a help text.
func (p OutputTimeout) Type() string { return "duration" }

// UnmarshalYAML reads what Set reads. What is wrong is said by [Settings.Validate], which
// knows the key.
func (p *OutputTimeout) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err != nil || p.Set(text) != nil {
		*p = unread
	}
	return nil
}

// given is the limit that was set, 0 for none.
func (p OutputTimeout) given() time.Duration { return time.Duration(max(0, p)) }

// ApplyUnattended sets the limits that hold where nobody is at the terminal, and says so; "" where
// all were given.
func (l Limits) ApplyUnattended(s *agentrun.Setup) string {
	var said []string
	if l.FirstOutput == 0 {
		s.FirstOutputTimeout = DefaultFirstOutput
		said = append(said, fmt.Sprintf("%s at its start (--first-output-timeout)", minutes(DefaultFirstOutput)))
	}
	if l.IdleTimeout == 0 {
		s.IdleTimeout = DefaultIdle
		said = append(said, fmt.Sprintf("%s later (--idle-timeout)", minutes(DefaultIdle)))
	}
	if len(said) == 0 {
		return ""
	}
	return "unattended: an agent that prints nothing is stopped, after " + strings.Join(said, ", ") + "; 0 switches that off"
}

// minutes is a duration of whole minutes.
func minutes(d time.Duration) string { return fmt.Sprintf("%dm", int(d.Minutes())) }
