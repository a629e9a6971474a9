package project

import (
	"maps"
	"slices"
	"strings"
)

// measuredBy are the options of c8 and nyc that say which code counts, by whether a value
// follows in a word of its own.
var measuredBy = map[string]bool{
	"--exclude": true, "-x": true, "--include": true, "-n": true, "--extension": true, "-e": true, "--src": true,
	"--all": false, "-a": false, "--exclude-after-remap": false, "--exclude-node-modules": false, "--allowExternal": false,
}

// measured returns those options of the coverage tool that the project gives it: in the
// script of the tests, else in the first script that runs tests under it, one with "cov"
// in its name before others.
func (n node) measured(tool string, c call) []string {
	if out, ok := coverageOptions(c.words, tool); ok {
		return out
	}
	names := slices.Sorted(maps.Keys(n.scripts))
	slices.SortStableFunc(names, func(a, b string) int { return covers(b) - covers(a) })
	for _, name := range names {
		for _, s := range split(n.scripts[name]) {
			if out, ok := coverageOptions(s.words, tool); ok && s.plain {
				return out
			}
		}
	}
	return nil
}

func covers(script string) int {
	if strings.Contains(script, "cov") {
		return 1
	}
	return 0
}

// coverageOptions returns the options between the tool and the command that it runs, and
// whether the words run one under it.
func coverageOptions(words []string, tool string) (out []string, ok bool) {
	at := slices.IndexFunc(words, func(w string) bool { return programName(w) == tool })
	if at < 0 || !wraps(words[:at]) {
		return nil, false
	}
	for i := at + 1; i < len(words); i++ {
		w := words[i]
		name, _, valued := strings.Cut(w, "=")
		follows, known := measuredBy[name]
		switch {
		case !strings.HasPrefix(w, "-"):
			return out, !slices.Contains([]string{"report", "check-coverage", "merge", "instrument"}, w)
		case known && follows && !valued && i+1 < len(words):
			i++
			out = append(out, w+"="+words[i])
		case known:
			out = append(out, w)
		case !valued && i+1 < len(words) && coverageValues[name]:
			i++
		}
	}
	return nil, false
}

// coverageValues are other options of c8 and nyc whose value follows in a word of its
// own.
var coverageValues = map[string]bool{
	"--reporter": true, "-r": true, "--report-dir": true, "--reports-dir": true, "-o": true, "--temp-dir": true, "--temp-directory": true, "-t": true,
	"--cwd": true, "--require": true, "-i": true, "--lines": true, "--functions": true, "--branches": true, "--statements": true,
	"--nycrc-path": true, "--config": true, "-c": true, "--cache-dir": true,
}

// uncovered are the words of a command without the coverage tool that it runs under.
func uncovered(words []string) []string {
	if len(words) == 0 || words[0] != "c8" && words[0] != "nyc" {
		return words
	}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--":
			return words[i+1:]
		case !strings.HasPrefix(w, "-"):
			return words[i:]
		case measuredBy[w] || coverageValues[w]:
			i++
		}
	}
	return words
}
