package facts

import (
	"path"
	"slices"
)

// dialects are the endings of languages that files are translated between.
var dialects = [][]string{
	{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"},
	{".java", ".kt"},
}

// translated makes one file of one that is gone and of a new one in the same folder
// that is called the same but for its ending: test.js became test.ts, however
// little of the text is as it was.
func translated(files []File) []File {
	gone := map[string]int{} // by what a file is called, with its family
	for i, f := range files {
		if name := family(f.Path); f.Deleted && f.OldPath == "" && name != "" {
			gone[name] = i
		}
	}
	if len(gone) == 0 {
		return files
	}
	drop := map[int]bool{}
	out := slices.Clone(files)
	for i, f := range files {
		name := family(f.Path)
		if at, ok := gone[name]; ok && f.Added && f.OldPath == "" && !drop[at] {
			drop[at] = true
			out[i].OldPath, out[i].Before, out[i].Added = files[at].Path, files[at].Before, false
		}
	}
	kept := out[:0]
	for i, f := range out {
		if !drop[i] {
			kept = append(kept, f)
		}
	}
	return kept
}

// family is a path with the first of the endings that its own may become, "" for a
// language that has no other.
func family(name string) string {
	ext := path.Ext(name)
	for _, list := range dialects {
		if slices.Contains(list, ext) {
			return name[:len(name)-len(ext)] + list[0]
		}
	}
	return ""
}
