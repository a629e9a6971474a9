package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Percent is a share in percent, 0 for none.
type Percent float64

// Set reads a percentage, with or without the percent sign.
func (p *Percent) Set(text string) error {
	n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	if err != nil || !(n >= 0 && n <= 100) {
		return fmt.Errorf("%q is not a share between 0%% and 100%%, like 80%%", text)
	}
	*p = Percent(n)
	return nil
}

// String returns what Set reads, "" for none.
func (p Percent) String() string {
	if p == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(p), 'f', -1, 64) + "%"
}

// Type returns the name of the value in the help.
func (p Percent) Type() string { return "percent" }

// UnmarshalYAML reads what Set reads. [Settings.Validate] reports invalid values, because it
// knows the key.
func (p *Percent) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err != nil || p.Set(text) != nil {
		*p = -1
	}
	return nil
}
