package project

import "supervise/internal/regexp"

// proposeMake recognises the usual targets of a Makefile. It is used only if no other
// kind of project is found.
func proposeMake(f folder) proposal {
	var p proposal
	file := f.has(makeFiles...)
	text := f.read(file)
	for _, t := range []struct {
		kind    Kind
		targets []string
	}{
		{Build, []string{"build", "all"}},
		{Test, []string{"test", "check"}},
		{Lint, []string{"lint"}},
	} {
		for _, target := range t.targets {
			if regexp.MustCompile(`(?m)^` + target + `\s*::?([^=]|$)`).MatchString(text) {
				p.tool("make "+target, file)
				// A target may run anything, and many tools report on standard error.
				p.add(Check{Kind: t.kind, Name: "make " + target, Command: []string{"make", target}, Stderr: true})
				break
			}
		}
	}
	if !p.has(Test) {
		return proposal{}
	}
	if !f.found("make") {
		p.note("make is not on PATH: install it")
	}
	return p
}

var makeFiles = []string{"GNUmakefile", "makefile", "Makefile"}
