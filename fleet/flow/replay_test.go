package flow

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// TestReplay has the workflows do again what they did in histories of earlier versions, as
// workers do after a change: whatever differs would stop fleets that run. TestFleet -record
// writes those of this version.
func TestReplay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/histories/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, file := range files {
		r := worker.NewWorkflowReplayer()
		for name, f := range map[string]any{FleetName: Fleet, TaskName: Task, CandidateName: Candidate} {
			r.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: name})
		}
		if err := r.ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
