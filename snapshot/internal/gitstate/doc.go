// Package gitstate reads refs, branches and the stash from captured files and compares them between two snapshots. It also
// captures the state that linked worktrees share.
package gitstate
