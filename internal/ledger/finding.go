package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"supervise/detector"
)

// Verdict is what a progress document says of the judgement on an iteration.
type Verdict struct {
	Iteration int                  `json:"iteration"`
	Class     detector.Class       `json:"classification"`
	Alerts    []detector.Alert     `json:"alerts"`
	Changes   detector.TestChanges `json:"test_changes,omitzero"`
}

// Verdicts reads the progress documents of the loop in dir, which are small, in
// the order of the iterations. One that is damaged is an error.
func Verdicts(dir string) ([]Verdict, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "progress", "iteration-*.json"))
	if err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	var out []Verdict
	for _, path := range paths {
		var v Verdict
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

// Findings reads the alerts of all iterations of the loop in dir, in their
// order.
func Findings(dir string) ([]Finding, error) {
	list, err := Verdicts(dir)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, v := range list {
		for _, a := range v.Alerts {
			out = append(out, Finding{LoopID: filepath.Base(dir), Iteration: v.Iteration, Alert: a})
		}
	}
	return out, nil
}
