// Package gitdir describes the working tree of a store: its git folder, which may be outside the tree, its exclusions, and
// which files of git are captured. It also runs git commands that ignore the configuration of the user and the agent.
package gitdir
