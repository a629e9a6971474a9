//go:build !linux

package gitdir

// OpenBelow is known on Linux only.
func OpenBelow(string) map[string]bool { return map[string]bool{} }
