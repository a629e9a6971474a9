package parsed

import (
	"math"
	"net/url"
	"path"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// Because joins what happened and its reason, if there is one.
func Because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// LastLine returns the last line that says more than FAIL.
func LastLine(s string) string {
	last := ""
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line != "" && line != "PASS" && !strings.HasPrefix(line, "FAIL") {
			last = line
		}
	}
	return last
}

// MaxLine is the longest line that can be one of a compiler.
const MaxLine = 16 << 10

// Slashed returns a path with slashes, cleaned.
func Slashed(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }

// MaxMessage is how many bytes of a message of several lines are gathered.
const MaxMessage = 2 << 10

// Int returns f without its fraction, 0 if it is below 0 or too large.
func Int(f float64) int {
	if math.IsNaN(f) || f < 0 || f > 1e9 {
		return 0
	}
	return int(f)
}

// Interner keeps one copy of every name that is repeated in a report.
type Interner map[string]string

// Of returns the one copy of s.
func (n Interner) Of(s string) string {
	if kept, ok := n[s]; ok {
		return kept
	}
	n[s] = s
	return s
}

// Scheme is how an absolute URI begins; a drive letter is not a scheme.
var Scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

var drive = regexp.MustCompile(`^/[A-Za-z]:`)

// URIPath returns the path that a file URI or a relative reference names. Other
// URIs stay as they are.
func URIPath(uri string) string {
	if Scheme.MatchString(uri) && !strings.HasPrefix(uri, "file:") {
		return textstream.CleanName(uri)
	}
	path := strings.TrimPrefix(uri, "file:")
	if path != uri {
		path = strings.TrimPrefix(path, "//localhost")
		if strings.HasPrefix(path, "///") {
			path = path[2:]
		}
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	if drive.MatchString(path) {
		path = path[1:]
	}
	return Slashed(textstream.CleanName(path))
}

// Seconds turns a number of seconds into a duration; what is not a sensible time
// is none.
func Seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 || s > 1e9 {
		return 0
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}
