package projectfs

import (
	"path"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/tomlfile"
)

// TOML returns the content of a TOML file, which is empty if the file does not exist. A
// mistake in it is noted once.
func (f Folder) TOML(name string) tomlfile.Document {
	file := Join(f.Dir, name)
	if doc, ok := f.documents[file]; ok {
		return doc
	}
	doc, err := tomlfile.Parse(file, []byte(f.Read(name)))
	if err != nil {
		f.mistakes = append(f.mistakes, err.Error())
	}
	if f.documents == nil {
		f.documents = map[string]tomlfile.Document{}
	}
	f.documents[file] = doc
	return doc
}

// Table returns a table of a TOML file, nothing of another file.
func (f Folder) Table(file, name string) tomlfile.Document {
	if path.Ext(file) != ".toml" {
		return nil
	}
	table, _ := f.TOML(file).Table(name)
	return table
}

// HasSection reports whether a TOML or INI file has a table or section, or one in it.
func (f Folder) HasSection(file, name string) bool {
	if path.Ext(file) == ".toml" {
		_, ok := f.TOML(file).Table(name)
		return ok
	}
	_, ok := INISection(f.Read(file), name)
	return ok
}

// INISection returns the lines of a section of an INI file, and whether it or a section
// inside it exists.
func INISection(text, name string) (string, bool) {
	var b strings.Builder
	found, in := false, false
	for line := range strings.Lines(text) {
		if m := iniHeaderPattern.FindStringSubmatch(line); m != nil {
			in = m[1] == name
			found = found || in || strings.HasPrefix(m[1], name+".")
			continue
		}
		if in {
			b.WriteString(line)
		}
	}
	return b.String(), found
}

// iniHeaderPattern matches the line that starts a section: "[tool:pytest]".
var iniHeaderPattern = regexp.MustCompile(`^\s*\[\s*([^\]]+?)\s*\]\s*(#.*)?$`)
