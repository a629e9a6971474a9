package event

import (
	"fmt"
	"strings"

	"supervise/snapshot"
)

// Moment is when a snapshot is taken.
type Moment string

// The moments of an iteration at which snapshots are taken.
const (
	BeforeChecks Moment = "before_checks" // of the baseline
	AfterChecks  Moment = "after_checks"  // of the baseline
	BeforeAgent  Moment = "before_agent"
	AfterAgent   Moment = "after_agent"
	BeforeTool   Moment = "before_tool" // a call reported by hooks that may destroy something
)

// TakenSnapshot is the data of snapshot_taken.
type TakenSnapshot struct {
	Moment       Moment      `json:"moment"`
	ID           snapshot.ID `json:"snapshot"`
	Tree         string      `json:"tree"`
	Files        int         `json:"files"`
	CheckOutputs []string    `json:"check_outputs,omitempty"` // after_checks: files that the checks wrote
}

// DroppedSnapshots is the data of snapshots_dropped: the store was over its limit, or the
// disk was almost full.
type DroppedSnapshots struct {
	Snapshots []string `json:"snapshots"`
	Freed     int64    `json:"freed_bytes"`
	Bytes     int64    `json:"store_bytes"` // what is left
	Limit     int64    `json:"limit_bytes"`
}

// OverLimit is the data of store_over_limit: the store is over its limit, and no more
// snapshots may be dropped. It is written once.
type OverLimit struct {
	Bytes     int64  `json:"store_bytes"`
	Limit     int64  `json:"limit_bytes"`
	Snapshots int    `json:"snapshots"`
	Why       string `json:"why"`
}

// SharedRefs is the data of shared_lost and shared_refs_restored: branches, tags and stash
// entries, which all worktrees of the repository share.
type SharedRefs struct {
	Names []string `json:"refs"`
}

// Rollback is the data of rollback_started.
type Rollback struct {
	From snapshot.ID `json:"from_snapshot"`
	To   snapshot.ID `json:"to_snapshot"`
}

// TreeAlarm is the data of tree_alarm: tests vanished, or the tree shrank, while the agent
// was working.
type TreeAlarm struct {
	MissingTests []string `json:"test_files"`
	MissingFiles int      `json:"files_gone"` // of all kinds
	Total        int      `json:"files"`      // files at the start of the agent
	Action       string   `json:"action"`
}

// String returns the alarm as text.
func (a TreeAlarm) String() string {
	text := fmt.Sprintf("%d of %d files are gone", a.MissingFiles, a.Total)
	if len(a.MissingTests) > 0 {
		text = "test files are gone: " + strings.Join(a.MissingTests[:min(len(a.MissingTests), 5)], ", ")
	}
	return text
}

// StaleMeasurement is the data of measurement_stale: the agent continued to work during the
// measurement, so its results are discarded. The next idle time has a new measurement.
type StaleMeasurement struct {
	Snapshot string `json:"snapshot"` // of the tree at the start of the measurement
}
