package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"supervise/internal/ledger"
)

// A state folder inside the tree is ignored by git and in no snapshot: it must not
// be one that the user has something in.
func TestCreateLeavesTheUsersFoldersAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		home  string // below the tree
		files map[string]string
		want  error
	}{
		"new":                        {"state", nil, nil},
		"empty":                      {"state", map[string]string{"state/": ""}, nil},
		"used before":                {"state", map[string]string{"state/loops/": "", "state/scratch/": "", "state/gate.json": "{}", "state/.gitignore": "*\n"}, nil},
		"the tree itself":            {".", map[string]string{".gitignore": "build/\n"}, ledger.ErrHome},
		"with files of the user":     {"docs", map[string]string{"docs/guide.md": "mine"}, ledger.ErrHome},
		"with ignores of the user":   {"docs", map[string]string{"docs/.gitignore": "*.log\n"}, ledger.ErrHome},
		"no folder":                  {"docs", map[string]string{"docs": "mine"}, ledger.ErrHome},
		"with a folder of that name": {"docs", map[string]string{"docs/loops/": "", "docs/a/": ""}, ledger.ErrHome},
	} {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			for file, text := range tt.files {
				path := filepath.Join(tree, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if file[len(file)-1] == '/' {
					if err := os.MkdirAll(path, 0o755); err != nil {
						t.Fatal(err)
					}
				} else if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			l, err := ledger.Create(filepath.Join(tree, tt.home), ledger.State{LoopID: "ralph-a-00000001", Workspace: tree})
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Fatalf("Create = %v, want %v", err, tt.want)
			}
			if l != nil {
				l.Close()
				return
			}
			for file, text := range tt.files {
				if now, err := os.ReadFile(filepath.Join(tree, file)); file[len(file)-1] != '/' && (err != nil || string(now) != text) {
					t.Errorf("%s holds %q, %v, want %q", file, now, err, text)
				}
			}
			if _, err := os.Stat(filepath.Join(tree, tt.home, "loops", "ralph-a-00000001")); err == nil {
				t.Error("the refused loop left a folder behind")
			}
		})
	}
}

// A loop that another version of supervise wrote is not called missing.
func TestFindNamesLoopsOfOtherVersions(t *testing.T) {
	home := t.TempDir()
	create(t, home, "ralph-a-00000001")
	if err := os.WriteFile(filepath.Join(ledger.LoopDir(home, "ralph-a-00000001"), "state.json"), []byte(`{"version": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"latest", "", "ralph-a"} {
		if _, _, err := ledger.FindLoop(home, workspace, name); !errors.Is(err, ledger.ErrVersion) {
			t.Errorf("Find %q = %v, want ErrVersion", name, err)
		}
	}
	if _, _, err := ledger.FindLoop(home, workspace, "other"); !errors.Is(err, ledger.ErrNoLoop) {
		t.Errorf("Find of another = %v, want ErrNoLoop", err)
	}
}
