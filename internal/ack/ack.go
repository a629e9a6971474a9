// Package ack keeps the findings that a person accepted, in a file of the tree that
// should be committed.
package ack

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/detector"
)

// FileName is the file of the acknowledgements, next to the configuration.
const FileName = ".supervise-ack.yaml"

// Never is the expiry of an entry that does not expire.
const Never = "never"

// DefaultExpiry is how long an acknowledgement lasts by default.
const DefaultExpiry = "90d"

// ErrInvalid is wrapped by every error that an edit of the file or the command line fixes.
var ErrInvalid = errors.New("invalid acknowledgement")

// Entry is one acknowledgement. It has a Finding or a Rule.
type Entry struct {
	Finding       string   `yaml:"finding,omitempty" json:"finding,omitempty"` // ID of the accepted finding
	Rule          string   `yaml:"rule,omitempty" json:"rule,omitempty"`
	Tests         []string `yaml:"tests,omitempty" json:"tests,omitempty"` // patterns; none means all
	Path          string   `yaml:"path,omitempty" json:"path,omitempty"`   // pattern of files, suites and folders
	UpTo          *float64 `yaml:"up_to,omitempty" json:"up_to,omitempty"` // the largest accepted change of the metric
	Reason        string   `yaml:"reason" json:"reason"`
	Date          string   `yaml:"date,omitempty" json:"date,omitempty"`       // day of writing, YYYY-MM-DD
	Expires       string   `yaml:"expires,omitempty" json:"expires,omitempty"` // the last day, YYYY-MM-DD, or never
	FalsePositive bool     `yaml:"false_positive,omitempty" json:"false_positive,omitempty"`
}

// ID identifies the entry: the ID of the finding, or a hash of what the entry covers.
func (e Entry) ID() string {
	if e.Finding != "" {
		return e.Finding
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{e.Rule, e.Path}, e.Tests...), "\x00")))
	return hex.EncodeToString(sum[:4])
}

// NewEntry returns the entry that accepts a finding: its rule on its tests, or on everything
// below path. expires is in the form that [Expiry] reads.
func NewEntry(a detector.Alert, path, reason, expires string, now time.Time) (Entry, error) {
	day, err := ParseExpiry(cmp.Or(expires, DefaultExpiry), now)
	if err != nil {
		return Entry{}, err
	}
	if strings.TrimSpace(reason) == "" {
		return Entry{}, fmt.Errorf("%w: give a reason that others will understand", ErrInvalid)
	}
	e := Entry{Finding: a.ID(), Rule: a.Rule, Path: path, Reason: reason, Date: now.Format(time.DateOnly), Expires: day}
	if path == "" {
		for _, id := range a.Tests {
			e.Tests = append(e.Tests, quotePattern(id.String()))
		}
		if d := a.Values.Delta; d != nil && len(a.Tests) == 0 {
			e.UpTo = new(math.Round(100*math.Abs(*d)) / 100)
		}
	}
	return e, nil
}

// quotePattern quotes a name, so that it is not read as a pattern.
func quotePattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(name)
}

// ParseExpiry reads an expiry: a day (2026-12-31), a span from now (90d, 12w), or never. It
// returns the day, or never.
func ParseExpiry(text string, now time.Time) (string, error) {
	if text == Never {
		return Never, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Format(time.DateOnly), nil
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		number, hasUnit := strings.CutSuffix(text, unit)
		if n, err := strconv.Atoi(number); hasUnit && err == nil && n > 0 && n <= 36500 {
			return now.AddDate(0, 0, n*days).Format(time.DateOnly), nil
		}
	}
	return "", fmt.Errorf("%w: expiry %q: give a number of days like 90d, of weeks like 12w, a day like 2026-12-31, or never", ErrInvalid, text)
}

// expiry is when the entry expires, zero for never.
func (e Entry) expiry() (time.Time, error) {
	text := e.Expires
	if text == "" {
		written, err := time.Parse(time.DateOnly, e.Date)
		if err != nil {
			return time.Time{}, fmt.Errorf("%w: expires is missing; give a day like 2026-12-31, or never", ErrInvalid)
		}
		if text, err = ParseExpiry(DefaultExpiry, written); err != nil {
			return time.Time{}, err
		}
	}
	if text == Never {
		return time.Time{}, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: expires is %q; give a day like 2026-12-31, or never", ErrInvalid, text)
	}
	return day.AddDate(0, 0, 1), nil
}

// Expired reports whether the entry has expired.
func (e Entry) Expired(now time.Time) bool {
	expiry, err := e.expiry()
	return err != nil || !expiry.IsZero() && !now.Before(expiry)
}

// Validate returns what is wrong with the entry.
func (e Entry) Validate() error {
	switch {
	case strings.TrimSpace(e.Reason) == "":
		return fmt.Errorf("%w: reason is missing; say why this is acceptable", ErrInvalid)
	case e.Rule == "" && e.Path != "":
		return fmt.Errorf("%w: path needs a rule", ErrInvalid)
	case e.UpTo != nil && *e.UpTo < 0:
		return fmt.Errorf("%w: up_to is %v; give a number of at least 0, in the unit of the rule", ErrInvalid, *e.UpTo)
	}
	if e.Date != "" {
		if _, err := time.Parse(time.DateOnly, e.Date); err != nil {
			return fmt.Errorf("%w: date is %q; give a day like 2026-12-31", ErrInvalid, e.Date)
		}
	}
	a, err := e.acknowledgement()
	if err == nil {
		err = a.Validate()
	}
	if err != nil && !errors.Is(err, ErrInvalid) {
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return err
}

// acknowledgement converts the entry for the detector. An entry with tests or a path matches by
// its rule; an entry with neither covers only its finding.
func (e Entry) acknowledgement() (detector.Acknowledgement, error) {
	until, err := e.expiry()
	a := detector.Acknowledgement{ID: e.ID(), Rule: e.Rule, Tests: e.Tests, Path: e.Path, UpTo: e.UpTo, Reason: e.Reason, Expires: until}
	if len(e.Tests) == 0 && e.Path == "" {
		a.Finding = e.Finding
	}
	return a, err
}

// Acknowledgements returns the valid entries that have not expired, in the form of the
// detector.
func Acknowledgements(list []Entry, now time.Time) []detector.Acknowledgement {
	var out []detector.Acknowledgement
	for _, e := range list {
		if a, err := e.acknowledgement(); err == nil && !e.Expired(now) {
			out = append(out, a)
		}
	}
	return out
}

// Find returns the index of the entry with that ID, or of the only one whose ID starts
// with it, and -1 otherwise.
func Find(list []Entry, id string) int {
	if i := slices.IndexFunc(list, func(e Entry) bool { return e.ID() == id }); i >= 0 {
		return i
	}
	index := -1
	for i, e := range list {
		switch {
		case id == "" || !strings.HasPrefix(e.ID(), id):
		case index >= 0:
			return -1
		default:
			index = i
		}
	}
	return index
}
