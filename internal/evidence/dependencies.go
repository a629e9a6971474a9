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

// TestDependencies are the texts of tests, and of files on which tests depend, by path.
type TestDependencies map[string][]byte

// ReadTestDependencies reads these texts from a snapshot. It is false if they are too large
// together, or cannot be read.
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

// TestFilesUsing returns the test files that depend on a file because they name it, directly or
// through other files. all means that every test of the tree depends on it, as on the
// configuration of the runner.
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
			if seen[p] || !below && !Mentions(p, l[p], current) {
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

// importRE matches a line that may import another file: "from helpers import cart", "#include".
var importRE = regexp.MustCompile(`\b(import|from|require\w*|include\w*|use|using|mod|load|source|extends|with)\b`)

// Mentions reports whether the text of a file, user, uses another file: it contains its name,
// or imports it. In Go, files of the same package use each other.
func Mentions(user string, text []byte, file string) bool {
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

// hasWord reports whether a text contains a word that is not part of a longer one.
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

// isWordByte reports whether a byte can be part of a word; file names may have dashes.
func isWordByte(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
