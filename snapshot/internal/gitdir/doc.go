// Package gitdir is the working tree that snapshots are taken of: its git folder where that lies outside, what was
// excluded, and git commands that run nothing of the user's or the agent's configuration.
package gitdir
