package commandline

import (
	"os/exec"
	"testing"
)

// Words are added to a shell line only if it is one simple command: then the shell
// passes them to the program.
func TestSimpleCommand(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string // what the program is given, with "|" between; "" if nothing may be added
	}{
		{`printf '%s|' a  b`, "a|b|x y|it's|"},
		{`A=1 printf "%s|" 'a b' "c"'d'e\ f`, "a b|cde f|x y|it's|"},
		{`printf '%s|' "$HOME;&" '` + "`" + `'`, "/home;&|`|x y|it's|"},
		{`printf '%s|' a#b `, "a#b|x y|it's|"},
		{`printf '%s|' ''`, "|x y|it's|"},
		{`printf '%s|' a; true`, ""},
		{`true && printf a`, ""},
		{`printf a | cat`, ""},
		{`printf a >/dev/null`, ""},
		{"printf a\nprintf b", ""},
		{`printf $(echo a)`, ""},
		{`printf "$(echo a)"`, ""},
		{"printf `echo a`", ""},
		{`(printf a)`, ""},
		{`printf a # no more`, ""},
		{`printf 'a`, ""},
		{`printf a\`, ""},
		{`if printf a`, ""},
		{`! printf a`, ""},
		{``, ""},
	} {
		v, ok := Parse([]string{"/bin/sh", "-c", tt.line})
		if ok != (tt.want != "") {
			t.Errorf("%s: simple is %v", tt.line, ok)
		}
		if !ok {
			continue
		}
		argv := v.Edit(len(v.Words), []string{"x y", "it's"}, nil)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = []string{"HOME=/home", "PATH=/usr/bin:/bin"}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != tt.want {
			t.Errorf("%s: %v: %q, want %q", argv[2], err, out, tt.want)
		}
	}
}
