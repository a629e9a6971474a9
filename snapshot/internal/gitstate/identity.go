package gitstate

import (
	"path/filepath"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
)

// Identity distinguishes a repository from another one at the same path: the folder of the tree, and the git folder, of a
// linked worktree the shared one. Both keep theirs when they are renamed, and get another when they are copied or cloned.
type Identity struct{ Root, Git disk.Birth }

// IdentityOf is that of the repository that is there now.
func IdentityOf(work string, ext gitdir.External) Identity {
	git := ext.Common
	if git == "" {
		git = filepath.Join(work, ".git")
	}
	return Identity{disk.BirthOf(work), disk.BirthOf(git)}
}

// Same reports whether both are one repository: it has the same git folder, or the same folder and no git folder once.
// What is not known is no difference.
func (i Identity) Same(o Identity) bool {
	none := disk.Birth{}
	switch {
	case i.Root == none || o.Root == none:
		return true
	case i.Git == none || o.Git == none:
		return i.Root == o.Root
	}
	return i.Git == o.Git
}
