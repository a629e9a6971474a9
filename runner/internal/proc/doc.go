// Package proc finds the processes of a tree, holds them together (in a cgroup, where there is one) and ends them.
package proc
