package project

import (
	"maps"
	"slices"
	"strings"

	"supervise/internal/framework"
)

// istanbulTools measure the coverage of frameworks that cannot.
var istanbulTools = underIstanbul.Coverage.Needs

var underIstanbul = framework.Named("mocha")

// coverageScope returns the options for which code counts that the project gives its coverage tool:
// in the script of the tests, else in the first script that runs tests under it, one with "cov"
// in its name before others.
func (n node) coverageScope(tool string, c call) []string {
	if out, ok := coverageOptions(c.words, tool); ok {
		return out
	}
	names := slices.Sorted(maps.Keys(n.scripts))
	coverage := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.Contains(name, "cov") })
	for _, name := range append(coverage, names...) {
		for _, s := range splitCommands(n.scripts[name]) {
			if out, ok := coverageOptions(s.words, tool); ok && s.plain {
				return out
			}
		}
	}
	return nil
}

// coverageOptions returns the options between the tool and the command that it runs, and
// whether the words run one under it.
func coverageOptions(words []string, tool string) (out []string, ok bool) {
	at := slices.IndexFunc(words, func(w string) bool { return programName(w) == tool })
	if at < 0 || !areWrappers(words[:at]) {
		return nil, false
	}
	row := framework.CoverageTools[tool]
	out, command := framework.LeadingOptions(words[at+1:], row.Keep, row.Others)
	return out, len(command) > 0 && !slices.Contains(row.Subcommands, command[0])
}

// withoutCoverageTool returns the words of a command without the coverage tool that it runs under.
func withoutCoverageTool(words []string) []string {
	if len(words) == 0 || !slices.Contains(istanbulTools, words[0]) {
		return words
	}
	row := framework.CoverageTools[words[0]]
	_, command := framework.LeadingOptions(words[1:], row.Keep, row.Others)
	return command
}
