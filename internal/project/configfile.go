package project

import (
	"strings"

	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

// packageJSON is the manifest of Node.
const packageJSON = "package.json"

// configuredBy returns the file of a pattern, or of "file#section" if it has the section or
// key, "" if there is none.
func configuredBy(f projectfs.Folder, config string) string {
	file, name, inside := strings.Cut(config, "#")
	switch {
	case !inside:
		return f.First(file)
	case file == packageJSON:
		if m, _ := readManifest(f); m.keys[name] != nil {
			return file
		}
	case f.First(file) != "" && f.HasSection(file, name):
		return file
	}
	return ""
}

// firstConfig returns the first of the configuration files that is there, with its section.
func firstConfig(f projectfs.Folder, files []string) string {
	for _, file := range files {
		if found := configuredBy(f, file); found != "" {
			return found
		}
	}
	return ""
}

// firstGroup returns what the first group of the expression matches in the text, "" if nothing does.
func firstGroup(re *regexp.Regexp, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// lineCommentPattern matches a line that is a comment in Python, TOML and requirements.
var lineCommentPattern = regexp.MustCompile(`(?m)^\s*#.*$`)
