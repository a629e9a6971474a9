package evidence

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"supervise/integrity"
	"supervise/internal/regexp"
	"supervise/snapshot"
	"supervise/source"
)

// maxDependencyTexts bounds the texts that are searched for names, in bytes.
const maxDependencyTexts = 16 << 20

// TestDependencies are the texts of tests, and of what they depend on, by path.
type TestDependencies map[string][]byte

// ReadTestDependencies reads the texts of a snapshot; false where there are too many, or they cannot
// be read.
func ReadTestDependencies(ctx context.Context, store *snapshot.Store, id snapshot.ID) (TestDependencies, bool) {
	files, err := store.Files(id)
	if err != nil {
		return nil, false
	}
	out, size := TestDependencies{}, int64(0)
	for _, f := range files {
		if role := integrity.RoleOf(f.Path); role == integrity.Product || role == integrity.OtherFile || !f.Mode.IsRegular() || f.Size > MaxText {
			continue
		}
		if size += f.Size; size > maxDependencyTexts {
			return nil, false
		}
		if out[f.Path], err = store.ReadFile(ctx, id, f.Path); err != nil {
			return nil, false
		}
	}
	return out, true
}

// TestFilesUsing returns the files of tests that depend on a file, by what they name, also over
// other files; and whether all tests of the tree do.
func (l TestDependencies) TestFilesUsing(file string) (tests []string, all bool) {
	seen := map[string]bool{file: true}
	for queue := []string{file}; len(queue) > 0; queue = queue[1:] {
		current := queue[0]
		around := ""
		switch role := integrity.RoleOf(current); {
		case role == integrity.RunnerConfig, role == integrity.MixedConfig, path.Base(current) == "conftest.py":
			around = path.Dir(current)
		}
		if around == "." {
			return nil, true
		}
		for _, p := range slices.Sorted(maps.Keys(l)) {
			below := around != "" && strings.HasPrefix(p, around+"/")
			if seen[p] || !below && !mentionsFile(p, l[p], current) {
				continue
			}
			seen[p] = true
			switch {
			case len(TestsIn(p, l[p])) > 0:
				tests = append(tests, p)
			case !below:
				queue = append(queue, p)
			}
		}
	}

	return tests, false
}

// importRE matches lines that take in another file.
var importRE = regexp.MustCompile(`\b(import|from|require\w*|include\w*|use|using|mod|load|source|extends|with)\b`)

// mentionsFile reports whether a text takes in a file: by its name, or in an import. In Go, the
// files of a package belong together.
func mentionsFile(user string, text []byte, file string) bool {
	lang, base := source.DetectLanguage(file, nil), path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case lang == source.Go:
		dir := path.Dir(file)
		return path.Dir(user) == dir || strings.Contains(string(text), "/"+path.Base(dir)+`"`)
	case hasWord(string(text), base):
		return true
	case lang == source.Unknown:
		return false
	case stem == "__init__", stem == "index", stem == "mod":
		stem = path.Base(path.Dir(file))
	}
	for line := range strings.Lines(string(text)) {
		if hasWord(line, stem) && importRE.MatchString(line) {
			return true
		}
	}
	return false
}

// hasWord reports whether a text has a word that is no part of a longer one.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isWordByte(text[i-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func isWordByte(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
