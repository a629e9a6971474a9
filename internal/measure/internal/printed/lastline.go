package printed

import (
	"cmp"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// noTestsFoundRE matches the messages of test runners that found no tests: "No tests found",
// "no test files". Most print them before the places that they searched.
var noTestsFoundRE = regexp.MustCompile(`(?i)\bno tests? (?:files? |cases? |suites? )?(?:(?:were |was )?(?:found|executed|ran|collected)|to run)\b|\bno test files\b`)

// LastLine returns the line of a command's output that best explains how it ended, usually the
// last one.
func LastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(textstream.StripANSI(s)), "\n")
	for _, line := range lines {
		if noTestsFoundRE.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); !adviceRE.MatchString(line) {
			if i > 0 && strings.HasPrefix(lines[i], "\t") && strings.HasSuffix(lines[i-1], ":") {
				line = lines[i-1] + " " + line // the go command prints advice on its own line
			}
			return line
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// adviceRE matches a line that Maven, Gradle, npm, cargo, Node or the JVM prints after the error:
// a frame of a stack ("at run (app.js:3)"), the place of a log, or advice ("[ERROR] Re-run Maven
// using the -X switch"). It matches an empty line too.
var adviceRE = regexp.MustCompile(`^(at \S.*(?:\)|:\d+)|Node\.js v\d\S*|(?:inifile|rootdir): .*|See https://\S+ for more information .*|\[ERROR\]\s*(-> \[Help \d+\]|\[Help \d+\].*|To see the full stack trace.*|Re-run Maven.*|For more information about the errors.*|After correcting the problems.*|mvn <args>.*)?|npm (ERR!|error) A complete log of this run.*|npm (ERR!|error)\s+/\S+\.log|)$`)

// LineOrNothing returns a last line for use in a message.
func LineOrNothing(line string) string {
	return cmp.Or(line, "it printed nothing")
}
