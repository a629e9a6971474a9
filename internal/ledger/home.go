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

// ownNames are what supervise itself puts into a home.
var ownNames = []string{"loops", "snapshots", "scratch", "replay", "candidates", deleted, "gate.json", hiddenBy}

// hiddenBy is the file by which git ignores a home inside the working tree.
const (
	hiddenBy   = ".gitignore"
	hiddenText = "*\n"
)

// ownFolder refuses a home inside the working tree that holds anything else: git
// would ignore it, and no snapshot would hold it.
func ownFolder(home, workspace string) error {
	rel, inside := PathInTree(home, workspace)
	if !inside {
		return nil
	}
	refuse := func(why string) error {
		return fmt.Errorf("%w: %s %s, which nobody would keep any more; name a folder of its own, such as %s", ErrHome, home, why, filepath.Join(rel, "supervise-state"))
	}
	if rel == "." {
		return refuse("is the working tree itself")
	}
	entries, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrHome, err)
	}
	for _, e := range entries {
		text, own := []byte(hiddenText), slices.Contains(ownNames, e.Name()) || strings.HasPrefix(e.Name(), tempPrefix)
		if e.Name() == hiddenBy {
			text, err = os.ReadFile(filepath.Join(home, hiddenBy))
		}
		if err != nil || !own || string(text) != hiddenText {
			return refuse("holds " + e.Name())
		}
	}
	return nil
}

// hide has git ignore a home that lies inside the working tree.
func hide(home, workspace string) error {
	if _, inside := PathInTree(home, workspace); !inside {
		return nil
	}
	return WriteFile(filepath.Join(home, hiddenBy), []byte(hiddenText))
}

// PathInTree returns where home lies in the working tree, and false when it lies
// outside.
func PathInTree(home, workspace string) (string, bool) {
	rel, err := filepath.Rel(workspace, home)
	if workspace == "" || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}
