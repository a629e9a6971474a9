package review

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// besides lists what a program may write that is to be kept from some folders: every
// file and folder next to the ways that lead to them. Landlock knows only what is
// allowed. Links are left out: what they lead to is allowed, or not, at its own place.
// New files right in the folders above are refused as well.
func besides(kept ...string) []string {
	var real []string
	for _, dir := range kept {
		if path, err := filepath.EvalSymlinks(dir); err == nil {
			real = append(real, path)
		}
	}
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // what cannot be listed cannot be named either, and stays as it is
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case e.Type()&os.ModeSymlink != 0, slices.Contains(real, path):
			case slices.ContainsFunc(real, func(k string) bool { return strings.HasPrefix(k, path+string(filepath.Separator)) }):
				walk(path)
			default:
				out = append(out, path)
			}
		}
	}
	walk(string(filepath.Separator))
	return out
}
