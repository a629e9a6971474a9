package detector

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/fingerprint"
)

// ID identifies the finding by its rule and evidence, independent of iteration and loop. It
// is eight hexadecimal digits. The evidence is the first that the alert has of these: the
// tests, the files, the reason, the metrics.
func (a Alert) ID() string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{a.Rule}, a.evidence()...), "\x00")))
	return hex.EncodeToString(sum[:4])
}

// evidence returns what distinguishes the finding from others of its rule. The order of
// tests and files does not matter.
func (a Alert) evidence() []string {
	var tests []string
	for _, id := range a.Tests {
		tests = append(tests, "test "+id.String())
	}
	slices.Sort(tests)
	var files []string
	for _, f := range a.Files {
		files = append(files, "file "+f)
	}
	slices.Sort(files)
	switch v := a.Values; {
	case len(tests) > 0:
		return tests
	case len(files) > 0 && v.Path != "":
		return append(files, "of "+v.Path)
	case len(files) > 0:
		return files
	case v.Why != "":
		return []string{"why " + fingerprint.Of(v.Why)}
	default:
		return []string{"from " + evidenceNumber(v.Prev), "to " + evidenceNumber(v.Curr), "period " + strconv.Itoa(v.Period)}
	}
}

// evidenceNumber returns a value as a part of an ID.
func evidenceNumber(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(math.Round(*v*100)/100, 'f', -1, 64)
}
