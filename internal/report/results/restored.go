package results

import (
	"strings"

	"supervise/internal/event"
	"supervise/internal/report"
	"supervise/snapshot"
)

// PrintRestored prints which tree was restored, and what could not be. what is the start of the
// line.
func (t Printer) PrintRestored(what string, res snapshot.Restored) {
	ignored := "; ignored: " + report.Pluralize(len(res.Ignored), "file", "files") + " written"
	also := report.Either(len(res.Ignored) > 0, ignored, "") + report.Either(res.GitFiles > 0, "; git's state too", "")
	t.printLine("%s s%s: %s written, %d deleted%s", what, res.Target, report.Pluralize(len(res.Written), "file", "files"), len(res.Deleted), also)
	if len(res.Shared) > 0 {
		t.printLine("restored in the repository that the worktrees share: %s", strings.Join(report.Truncate(res.Shared, 10), ", "))
	}
	for _, line := range event.NewShortfall(res).Lines() {
		t.printLine("%s", line)
	}
}

// PrintKeptTree prints with which command the current tree can be restored. It is called before
// another one replaces it. safety is the snapshot of the current tree.
func (t Printer) PrintKeptTree(loop string, safety snapshot.ID) {
	t.printLine("the tree as it is now is kept: %s rollback %s %s", t.Self, loop, safety.Name())
}
