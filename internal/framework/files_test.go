package framework

import (
	"slices"
	"strings"
	"testing"
)

// The configuration files of every row are recognized as such: as those of a runner or of a check,
// as files that tests load, or as files that configure the build, too.
func TestConfigFilesAreRecognized(t *testing.T) {
	for _, f := range frameworks() {
		for _, config := range f.ConfigFiles {
			name := strings.ReplaceAll(config, "*", "js")
			_, _, isSection := strings.Cut(config, "#")
			if isSection || slices.Contains(buildFiles, name) || SupportFile(name) {
				continue
			}
			for _, path := range []string{name, "web/" + name} {
				if !RunnerFile(path) || !CheckFile(path) {
					t.Errorf("%s: %s: a file of a runner: %v, of checks: %v", f.Name, path, RunnerFile(path), CheckFile(path))
				}
			}
		}
	}
	for _, l := range linters {
		for _, config := range l.ConfigFiles {
			name, _, isSection := strings.Cut(strings.ReplaceAll(config, "*", "js"), "#")
			if !CheckFile(name) || !isSection && RunnerFile(name) {
				t.Errorf("%s: %s: a file of checks: %v, of a runner: %v", l.Name, config, CheckFile(name), RunnerFile(name))
			}
		}
	}
}

// Files of a build are not only for tests.
func TestBuildFilesAreNoRunnerFiles(t *testing.T) {
	for _, name := range buildFiles {
		if RunnerFile(name) {
			t.Errorf("%s counts as a file that only configures a runner", name)
		}
		if !slices.ContainsFunc(frameworks(), func(f Framework) bool { return slices.Contains(f.ConfigFiles, name) }) {
			t.Errorf("%s is in no row", name)
		}
	}
}
