package checks

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/metric"
)

// Run is the result of one check: what ran, and what was read from where.
type Run struct {
	Check    Check         `json:"check"`
	ExitCode int           `json:"exit_code"`
	Duration time.Duration `json:"duration_ns"`
	Sources  []Source      `json:"read,omitempty"`     // reports that were read
	Problems []string      `json:"problems,omitempty"` // problems that did not stop the reading
	Listed   int           `json:"listed,omitempty"`   // how many tests or files the framework lists, if it listed them
	Cached   int           `json:"cached,omitempty"`   // how many tests have a result from the cache of the tool
	Why      string        `json:"why,omitempty"`      // the reason if the check counts as not measured
	Output   string        `json:"output,omitempty"`   // the end of its output
	// Leftovers are the names of the processes that still ran after its command ended, and
	// were killed.
	Leftovers []string `json:"leftovers,omitempty"`

	State    metric.Validity  `json:"-"`
	Tests    *metric.Tests    `json:"-"`
	Coverage *metric.Coverage `json:"-"`
	Lint     *metric.Lint     `json:"-"`
	Build    *metric.Build    `json:"-"`

	Started      time.Time       `json:"-"` // when its command started, zero if it did not
	Killed       bool            `json:"-"`
	Skipped      bool            `json:"-"` // it needs a build that is broken
	DirMissing   bool            `json:"-"` // the folder that the check runs in is missing
	IsFallback   bool            `json:"-"` // it ran instead of another check, see [Check]
	Excluded     []string        `json:"-"` // its failures that were broken at the baseline
	Deferred     map[string]bool `json:"-"` // suites of integration tests
	Programs     map[string]bool `json:"-"` // tests of ctest that are counted by their cases
	CountDiffers string          `json:"-"` // how many tests ctest itself counts, "" if as many
}

// Source is one report that was read.
type Source struct {
	Path   string `json:"path"` // or "output"
	Format string `json:"format"`
}

// EndTime returns when the command ended.
func (r Run) EndTime() time.Time { return r.Started.Add(r.Duration) }

// Findings returns the findings of the run, none if it has none.
func (r *Run) Findings() []metric.Finding {
	if r.Lint == nil {
		return nil
	}
	return r.Lint.Findings
}

// offlineRE matches the complete line of a message that a tool cannot reach the network: "curl:
// (6) Could not resolve host: proxy.golang.org".
var offlineRE = regexp.MustCompile(`(?im)^.*(could ?n[o']t resolve host|temporary failure in name resolution|network is unreachable).*$`)

// FirstError returns the line that best explains why a build failed.
func (r Run) FirstError() string {
	if line := offlineRE.FindString(r.Output); line != "" {
		return strings.TrimSpace(line) + ": the build downloads dependencies; install them, or give the build access to the network"
	}
	if r.Lint != nil {
		for _, f := range r.Lint.Findings {
			if f.Level == metric.Error {
				return f.Diagnostic()
			}
		}
	}
	first := ""
	for line := range strings.Lines(r.Output) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if errorLineRE.MatchString(line) {
			return line
		}
		first = cmp.Or(first, line)
	}
	return cmp.Or(first, fmt.Sprintf("%s ended with status %d", r.Check.Name, r.ExitCode))
}

// errorLineRE matches a line about a failure: "error: missing header", or "make: *** [all] Error 1".
var errorLineRE = regexp.MustCompile(`(?i)\berror: |^\w*make\b.*: \*\*\* `)
