package proc

// Inside reports whether the calling process belongs to the tree of a child of
// [Run], as far as it can be seen: on Linux by the shim above it, by the mark in
// the environments above it, and by its cgroup; on macOS by what runs above it.
func Inside() bool { return insideTree() }
