package environment

import (
	"os"
	"time"
)

// Sums caches the sums of files, so that a program of a hundred megabytes is not read after each
// iteration. A file is unchanged if it is the same one, has the same length, and was not written
// since by its change time. It is not safe for concurrent use.
type Sums map[string]knownSum

// knownSum is the SHA-256 of a file, with what shows that the file is unchanged.
type knownSum struct {
	info    os.FileInfo
	changed time.Time
	sum     string
}

// settleTime is how long a file must be unchanged before its sum is cached: a later change
// within that time may have the same timestamp.
const settleTime = 20 * time.Millisecond

// sumOf returns the SHA-256 of a file, through symbolic links.
func (s Sums) sumOf(path string) (string, error) {
	before, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	changed := ChangeTime(before)
	if k, ok := s[path]; ok && os.SameFile(k.info, before) && k.info.Size() == before.Size() && k.changed.Equal(changed) {
		return k.sum, nil
	}
	at := time.Now()
	sum, err := hashFile(path)
	if err == nil && s != nil && !changed.IsZero() && at.Sub(changed) > settleTime {
		s[path] = knownSum{before, changed, sum}
	}
	return sum, err
}
