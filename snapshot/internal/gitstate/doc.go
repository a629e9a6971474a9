// Package gitstate reads refs, branches and the stash from captured files, and compares them
// between two snapshots (refs.go). It also captures the state that linked worktrees share
// (shared.go), compares git indexes (index.go), and recognizes a replaced repository
// (identity.go).
package gitstate
