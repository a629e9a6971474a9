package treecopy

import (
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/measure"
)

// A project below the top of its repository runs in its own folder.
func TestTreeOfAProjectBelowTheTop(t *testing.T) {
	for _, tt := range []struct{ root, project, want string }{
		{"/r", "/r", "/tree"}, {"/r", "/r/a/b", "/tree/a/b"}, {"/r", "/elsewhere", "/tree"},
	} {
		tree := Tree{Workspace: Workspace{Root: tt.root, Plan: measure.Plan{Root: tt.project, Checks: []measure.Check{{Dir: "web"}}}}, Path: "/tree"}
		if got := tree.ProjectDir(); got != tt.want {
			t.Errorf("%s in %s: %s, want %s", tt.project, tt.root, got, tt.want)
		}
		web := filepath.ToSlash(strings.TrimPrefix(filepath.Join(tt.want, "web"), "/tree/"))
		if _, ok := tree.findProjects(nil)[web]; !ok {
			t.Errorf("%s in %s: dependencies are looked for in %v, want %s as well", tt.project, tt.root, tree.findProjects(nil), web)
		}
	}
}
