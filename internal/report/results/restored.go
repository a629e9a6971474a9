package results

import (
	"strings"

	"supervise/internal/event"
	"supervise/internal/report"
	"supervise/snapshot"
)

// PrintRestored prints which tree of a loop was restored, and what could not be.
func (t Printer) PrintRestored(what string, res snapshot.Restored) {
	also := ""
	if len(res.Ignored) > 0 {
		also += "; ignored: " + report.Pluralize(len(res.Ignored), "file", "files") + " written"
	}
	if res.GitFiles > 0 {
		also += "; git's state too"
	}
	t.printLine("%s s%s: %s written, %d deleted%s", what, res.Target, report.Pluralize(len(res.Written), "file", "files"), len(res.Deleted), also)
	if len(res.Shared) > 0 {
		t.printLine("restored in the repository that the worktrees share: %s", strings.Join(report.Truncate(res.Shared, 10), ", "))
	}
	for _, line := range event.NewShortfall(res).Lines() {
		t.printLine("%s", line)
	}
}

// PrintKeptTree prints, before a tree of the loop is restored, how to get the current one back.
func (t Printer) PrintKeptTree(loop string, safety snapshot.ID) {
	t.printLine("the tree as it is now is kept: %s rollback %s %s", t.Self, loop, safety.Name())
}
