package textstream

import "testing"

func TestShownHidesNothingAndCommandsNoCI(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":             "plain\n\ttext",
		"a::b":                      "a::b",
		"::error::x":                `\::error::x`,
		"a\n  ::error file=x::y":    "a\n  \\::error file=x::y",
		"x ##[error]y ##vso[a]b":    `x ##\[error]y ##vso\[a]b`,
		"a\u202egnp.exe":            "a<U+202E>gnp.exe",
		"\u2066a\u2069\u200f\u061c": "<U+2066>a<U+2069><U+200F><U+061C>",
		"a\r::error::":              "a<U+000D>::error::",
		"\x1b]0;title\x07\x1b[2Jé":  "<U+001B>]0;title<U+0007><U+001B>[2Jé",
		"\u009b31m\x7f":             "<U+009B>31m<U+007F>",
	} {
		if got := EscapeLog(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"\x1b[31m::error::x\x1b[0m": "\x1b[31m\\::error::x\x1b[0m", "\x1b[2J": "<U+001B>[2J"} {
		if got := EscapeColored(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
