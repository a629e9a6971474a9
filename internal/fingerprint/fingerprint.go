// Package fingerprint identifies equal errors. It removes from an error text what changes
// from run to run, such as times, addresses and temporary paths, so that two occurrences of
// one error have the same fingerprint.
package fingerprint

import (
	"strings"

	"supervise/internal/regexp"
)

// replacements remove what changes from run to run. The order matters: longer patterns come
// before the digits that they contain.
var replacements = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`), ""},
	{regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<uuid>"},
	{regexp.MustCompile(`\b\d{4}[-/]\d\d[-/]\d\d([T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?)?\b`), "<time>"},
	{regexp.MustCompile(`\b\d{1,2}:\d\d:\d\d([.,]\d+)?\b`), "<time>"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|us|ms|s|m|h)\b`), "<time>"},
	{regexp.MustCompile(`(?i)\b(tmp|temp)[-_.]?\w*\d\w*|\b(tmp|temp)[-_.]\w+`), "<temp>"},
	{regexp.MustCompile(`([A-Za-z]:)?([\\/][\w.@+~<>-]+)*[\\/]([\w.@+~<>-]+)`), "<path>/$3"},
	{regexp.MustCompile(`(?i)\b0x[0-9a-f]+\b`), "<hex>"},
	{regexp.MustCompile(`(?i)\b[0-9a-f]*([0-9][a-f]|[a-f][0-9])[0-9a-f]*\b`), "<hex>"},
	{regexp.MustCompile(`\d+`), "<n>"},
	{regexp.MustCompile(`\s+`), " "},
}

// maxFingerprint is how many bytes of an error are compared.
const maxFingerprint = 2000

// Of returns the text of an error without what differs each time it occurs:
// digits, hexadecimal numbers, UUIDs, times, folders and the names of temporary
// files. Two errors with one fingerprint are the same error. The fingerprint of an
// empty error is empty.
func Of(err string) string {
	err = strings.TrimSpace(err)
	if len(err) > maxFingerprint {
		err = strings.ToValidUTF8(err[:maxFingerprint], "")
	}
	for _, n := range replacements {
		err = n.pattern.ReplaceAllString(err, n.with)
	}
	return strings.TrimSpace(err)
}
