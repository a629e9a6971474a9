package checks

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/measure/internal/commandline"
	"supervise/internal/shell"
)

// Programs returns the programs that the checks start, sorted: names, or paths relative to
// Root. For a shell line these are the first words of its commands; the programs that those
// start are unknown.
func (p Plan) Programs() []string {
	var out []string
	add := func(c Check, name string) {
		if strings.ContainsRune(name, '/') && !path.IsAbs(name) {
			name = path.Join(c.Dir, name)
			if !strings.ContainsRune(name, '/') {
				name = "./" + name
			}
		}
		out = append(out, name)
	}
	for _, c := range p.Checks {
		if len(c.Command) == 0 {
			continue
		}
		add(c, c.Command[0])
		for _, name := range firstWords(commandline.ShellLine(c.Command)) {
			add(c, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// firstWords returns the literal first words of the commands in a shell line.
func firstWords(line string) []string {
	var out []string
	for _, c := range shell.Commands(line) {
		words := c.Words
		for len(words) > 0 && shell.IsAssignment(words[0].Text) {
			words = words[1:]
		}
		if len(words) == 0 || shell.IsReserved(words[0].Text) {
			continue
		}
		if w := words[0]; !w.Expands && !w.Pattern && !w.Redirect {
			out = append(out, w.Text)
		}
	}
	return out
}
