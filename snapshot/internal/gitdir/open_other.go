//go:build !linux

package gitdir

// ListOpenFiles is known on Linux only.
func ListOpenFiles(string) map[string]bool { return map[string]bool{} }
