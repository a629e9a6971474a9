package config_test

import (
	"testing"
	"time"
)

// An unattended agent may not be silent for ever, unless that was asked for.
func TestUnwatched(t *testing.T) {
	for name, c := range map[string]struct {
		yaml        string
		idle, first time.Duration
		note        string
	}{
		"nothing set":   {"{}", 30 * time.Minute, 10 * time.Minute, "unattended: an agent that prints nothing is stopped, after 10m at its start (--first-output-timeout), 30m later (--idle-timeout); 0 switches that off"},
		"as by default": {"{idle_timeout: auto, first_output_timeout: 2m}", 30 * time.Minute, 2 * time.Minute, "unattended: an agent that prints nothing is stopped, after 30m later (--idle-timeout); 0 switches that off"},
		"switched off":  {"{idle_timeout: 0, first_output_timeout: 0s}", 0, 0, ""},
		"others":        {"{idle_timeout: 1h, first_output_timeout: 90s}", time.Hour, 90 * time.Second, ""},
	} {
		s, err := load(t, "limits: "+c.yaml+"\n")
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.LoopOptions("/tree")
		if err != nil {
			t.Fatal(err)
		}
		setup := o.Setup
		note := s.Limits.ApplyUnattended(&setup)
		if setup.IdleTimeout != c.idle || setup.FirstOutputTimeout != c.first || note != c.note {
			t.Errorf("%s: idle %s, first output %s, %q; want %s, %s, %q", name, setup.IdleTimeout, setup.FirstOutputTimeout, note, c.idle, c.first, c.note)
		}
	}
	for _, wrong := range []string{"-1s", "soon", "[1]"} {
		if _, err := load(t, "limits: {idle_timeout: "+wrong+"}\n"); err == nil {
			t.Errorf("idle_timeout: %s is accepted", wrong)
		}
	}
}
