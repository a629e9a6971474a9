package results

import (
	"strings"

	"supervise/internal/report"
	"supervise/snapshot"
)

// Restored prints which tree of a loop was restored, and what could not be.
func (t Text) Restored(loop, what string, res snapshot.Restored) {
	git := ""
	if res.GitFiles > 0 {
		git = "; git's own state too"
	}
	t.line("%s s%s: %s written, %d deleted%s", what, res.Target, report.Count(len(res.Written), "file", "files"), len(res.Deleted), git)
	if len(res.Shared) > 0 {
		t.line("restored in the repository that the worktrees share: %s", strings.Join(report.Cut(res.Shared, 10), ", "))
	}
	for _, line := range report.Unrestored(res.Gone, res.Left, res.Displaced, res.DisplacedTo) {
		t.line("%s", line)
	}
	t.line("the tree as it was is kept as s%s; undo with: supervise rollback --undo %s", res.Safety, loop)
}
