// Package gitstate reads refs, branches and the stash from captured files, compares them between two snapshots, and
// captures what linked worktrees share.
package gitstate
