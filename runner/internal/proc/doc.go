// Package proc finds the processes of a tree, holds them together (in a cgroup, if the
// system allows that) and kills them.
package proc
