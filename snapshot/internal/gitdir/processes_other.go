//go:build !linux

package gitdir

// LockHolder is not supported on this system: every lock counts as stale.
func LockHolder(string, string) (int, bool) { return 0, false }

// ListOpenFiles is known on Linux only.
func ListOpenFiles(string) map[string]bool { return map[string]bool{} }
