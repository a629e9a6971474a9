package mergegate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"supervise/detector"
	"supervise/internal/ledger"
)

// findingsName is the file with the findings of the last merge gate on this machine. It is in the
// folder of the tree's loops. supervise ack reads it.
const findingsName = "gate.json"

// SaveFindings writes the findings of a merge gate to the folder of the tree's loops.
func SaveFindings(home string, alerts []detector.Alert) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("keep the findings: %w", err)
	}
	return ledger.WriteJSON(filepath.Join(home, findingsName), alerts)
}

// LastFindings returns the findings that [SaveFindings] wrote last, nil if there are none.
func LastFindings(home string) (out []ledger.Finding) {
	text, err := os.ReadFile(filepath.Join(home, findingsName)) //nolint:forbidigo // of the state
	if err != nil {
		return nil
	}
	var alerts []detector.Alert
	if err := json.Unmarshal(text, &alerts); err != nil {
		return nil
	}
	for _, alert := range alerts {
		out = append(out, ledger.Finding{Alert: alert})
	}
	return out
}
