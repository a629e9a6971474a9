package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// homeEntries are the names that supervise itself creates in a home.
var homeEntries = []string{"loops", "snapshots", "scratch", "replay", "candidates", deletedFolder, "gate.json", gitignoreName}

// The file that makes git ignore a home inside the working tree.
const (
	gitignoreName = ".gitignore"
	gitignoreText = "*\n"
)

// checkHome refuses a home inside the working tree that contains other files: git would
// ignore them, and no snapshot would capture them.
func checkHome(home, workspace string) error {
	rel, inside := PathInTree(home, workspace)
	if !inside {
		return nil
	}

	refuse := func(why string) error {
		return fmt.Errorf("%w: %s %s, which git and snapshots would ignore; name a separate folder, such as %s", ErrHome, home, why, filepath.Join(rel, "supervise-state"))
	}
	if rel == "." {
		return refuse("is the working tree itself")
	}

	entries, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrHome, err)
	}

	for _, e := range entries {
		text, own := []byte(gitignoreText), slices.Contains(homeEntries, e.Name()) || strings.HasPrefix(e.Name(), tempPrefix)
		if e.Name() == gitignoreName {
			text, err = os.ReadFile(filepath.Join(home, gitignoreName))
		}
		if err != nil || !own || string(text) != gitignoreText {
			return refuse("holds " + e.Name())
		}
	}

	return nil
}

// writeGitignore makes git ignore a home inside the working tree.
func writeGitignore(home, workspace string) error {
	if _, inside := PathInTree(home, workspace); !inside {
		return nil
	}
	return WriteFile(filepath.Join(home, gitignoreName), []byte(gitignoreText))
}

// PathInTree returns the path of home relative to the working tree, and false if home is
// outside it.
func PathInTree(home, workspace string) (string, bool) {
	rel, err := filepath.Rel(workspace, home)
	if workspace == "" || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}
