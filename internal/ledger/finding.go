package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"supervise/detector"
)

// IterationVerdict is the part of a progress document about the judgement on an iteration.
type IterationVerdict struct {
	Iteration int                  `json:"iteration"`
	Class     detector.Class       `json:"classification"`
	Alerts    []detector.Alert     `json:"alerts"`
	Changes   detector.TestChanges `json:"test_changes,omitzero"`
}

// ReadVerdicts reads the progress documents of the loop in dir, which are small, in
// the order of the iterations. One that is damaged is an error.
func ReadVerdicts(dir string) ([]IterationVerdict, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "progress", "iteration-*.json"))
	if err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	var out []IterationVerdict
	for _, path := range paths {
		var v IterationVerdict
		if err := readJSON(path, &v); errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read verdicts: %w", err)
		}
		out = append(out, v)
	}
	return out, nil
}

// Finding is an alert that a loop raised.
type Finding struct {
	LoopID    string         `json:"loop_id"`
	Iteration int            `json:"iteration"`
	Alert     detector.Alert `json:"alert"`
}

// ReadFindings reads the alerts of all iterations of the loop in dir, in order, followed by
// those about its review.
func ReadFindings(dir string) ([]Finding, error) {
	list, err := ReadVerdicts(dir)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, v := range list {
		for _, a := range v.Alerts {
			out = append(out, Finding{LoopID: filepath.Base(dir), Iteration: v.Iteration, Alert: a})
		}
	}
	if s, err := ReadState(dir); err == nil && s.Review != nil {
		for _, a := range s.Review.Alerts {
			out = append(out, Finding{LoopID: filepath.Base(dir), Iteration: s.Review.Iteration, Alert: a})
		}
	}
	return out, nil
}

// minFindingPrefix is the minimum number of digits of an ID.
const minFindingPrefix = 4

// ErrFinding is wrapped by errors about ID prefixes that do not identify a finding.
var ErrFinding = errors.New("the ID of a finding")

// PickFinding returns the finding whose ID starts with prefix, nil if there is none.
// Findings of severity INFO are skipped, unless an acknowledgement lowered them to INFO.
func PickFinding(list []Finding, prefix string) (*Finding, error) {
	if len(prefix) < minFindingPrefix {
		return nil, fmt.Errorf("%w: %q is too short: give at least %d of its digits", ErrFinding, prefix, minFindingPrefix)
	}
	var out *Finding
	for i, f := range list {
		id := f.Alert.ID()
		if !strings.HasPrefix(id, strings.ToLower(prefix)) || f.Alert.Severity <= detector.Info && f.Alert.Acknowledged == nil {
			continue
		}
		if out != nil && out.Alert.ID() != id {
			return nil, fmt.Errorf("%w: several begin with %s, %s and %s among them: give more digits", ErrFinding, prefix, out.Alert.ID(), id)
		}
		out = &list[i]
	}
	return out, nil
}
