package checks

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/measure/internal/commandline"
)

// Programs returns what the checks start, sorted: names, or paths relative to
// Root. Of a line of the shell they are the first words of its commands; what
// those start in their turn is not known.
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
		for _, name := range firstWords(commandline.Shell(c.Command)) {
			add(c, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// firstWords are the plain first words of the commands in a line of the shell.
func firstWords(line string) []string {
	var out []string
	for _, command := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|()\n", r) }) {
		words := strings.Fields(command)
		for len(words) > 0 && strings.ContainsRune(words[0], '=') {
			words = words[1:]
		}
		if len(words) > 0 && !commandline.Reserved(words[0]) && !strings.ContainsAny(words[0], "$`'\"*?<>\\") {
			out = append(out, words[0])
		}
	}
	return out
}
