package gitstate

import (
	"path/filepath"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
)

// Identity identifies a repository by the folder of its tree and its git folder, which is the shared one for a linked
// worktree. It stays the same when they are renamed, and differs after a copy or clone.
type Identity struct{ Root, Git disk.Birth }

// IdentityOf returns the identity of the repository that exists now.
func IdentityOf(work string, ext gitdir.External) Identity {
	git := ext.Common
	if git == "" {
		git = filepath.Join(work, ".git")
	}
	return Identity{disk.BirthOf(work), disk.BirthOf(git)}
}

// Same reports whether both are the same repository: they have the same git folder, or the same tree if one has no git
// folder. Unknown identities count as the same.
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
