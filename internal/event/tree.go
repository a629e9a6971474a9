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
	CheckOutputs []string    `json:"check_outputs,omitempty"` // after_checks: files that the checks made
}

// DroppedSnapshots is the data of snapshots_dropped: the store was over its limit,
// or the disk had too little room.
type DroppedSnapshots struct {
	Snapshots []string `json:"snapshots"`
	Freed     int64    `json:"freed_bytes"`
	Bytes     int64    `json:"store_bytes"` // what is left
	Limit     int64    `json:"limit_bytes"`
}

// OverLimit is the data of store_over_limit: nothing is left that may be dropped.
// It is written once.
type OverLimit struct {
	Bytes     int64  `json:"store_bytes"`
	Limit     int64  `json:"limit_bytes"`
	Snapshots int    `json:"snapshots"`
	Why       string `json:"why"`
}

// SharedRefs is the data of shared_lost and shared_refs_restored: branches, tags and
// entries of the stash that all worktrees of the repository share.
type SharedRefs struct {
	Names []string `json:"refs"`
}

// Rollback is the data of rollback_started.
type Rollback struct {
	From snapshot.ID `json:"from_snapshot"`
	To   snapshot.ID `json:"to_snapshot"`
}

// TreeAlarm is the data of tree_alarm: tests vanished, or the tree shrank, while
// the agent worked.
type TreeAlarm struct {
	MissingTests []string `json:"test_files"` // that are gone
	MissingFiles int      `json:"files_gone"` // of all kinds
	Total        int      `json:"files"`      // that there were when the agent began
	Action       string   `json:"action"`
}

// String returns the alarm for people.
func (a TreeAlarm) String() string {
	text := fmt.Sprintf("%d of %d files are gone", a.MissingFiles, a.Total)
	if len(a.MissingTests) > 0 {
		text = "test files are gone: " + strings.Join(a.MissingTests[:min(len(a.MissingTests), 5)], ", ")
	}
	return text
}

// StaleMeasurement is the data of measurement_stale: the agent was at work again before its
// tree was measured, so that the numbers say nothing. It is measured again at the
// next rest.
type StaleMeasurement struct {
	Snapshot string `json:"snapshot"` // of what was to be measured
}
