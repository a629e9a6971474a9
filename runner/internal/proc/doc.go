// Package proc finds the processes of a tree, holds them together, and kills them. Each system
// has a file that lists its processes (process_linux.go, process_darwin.go). cgroup_linux.go
// holds a tree together in a cgroup, if the system allows that, and survivors_unix.go kills a
// tree whose shim is dead.
package proc
