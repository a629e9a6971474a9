package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"supervise/internal/project/internal/projectfs"
)

// step is a command that a workflow of GitHub runs in the checkout's root.
type step struct {
	segment
	file    string
	nightly bool // its job has installed a nightly toolchain
}

// workflow is a file in .github/workflows, as far as detection needs it.
type workflow struct {
	Defaults workflowDefaults
	Jobs     map[string]struct {
		Defaults workflowDefaults
		Strategy struct{ Matrix any }
		Steps    []struct {
			Uses, Run string
			Dir       string `yaml:"working-directory"`
			With      map[string]any
		}
	}
}

type workflowDefaults struct {
	Run struct {
		Dir string `yaml:"working-directory"`
	}
}

// workflowSteps returns the commands that the workflows run in the checkout's root. It ignores an
// invalid workflow, and returns nil for any other folder.
func workflowSteps(f projectfs.Folder) []step {
	if f.Dir != "" {
		return nil
	}

	var out []step
	for _, file := range f.Glob(".github/workflows/*.y*ml") {
		var w workflow
		if yaml.Unmarshal([]byte(f.Read(file)), &w) != nil || w.Defaults.Run.Dir != "" {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
			job := w.Jobs[name]
			nightly := isOnlyNightly(job.Strategy.Matrix)
			for _, s := range job.Steps {
				toolchain, _ := s.With["toolchain"].(string)
				nightly = nightly || strings.HasSuffix(s.Uses, "@nightly") || strings.HasPrefix(toolchain, "nightly")
				if s.Dir != "" || job.Defaults.Run.Dir != "" {
					continue
				}
				for line := range strings.Lines(strings.ReplaceAll(s.Run, "\\\n", " ")) {
					nightly = nightly || strings.Contains(line, "rustup ") && strings.Contains(line, "nightly")
					for _, segment := range splitCommands(strings.TrimSpace(line)) {
						out = append(out, step{segment: segment, file: file, nightly: nightly})
					}
				}
			}
		}
	}

	return out
}

// isOnlyNightly reports whether a matrix has a list of only nightly toolchains.
func isOnlyNightly(matrix any) bool {
	lists, _ := matrix.(map[string]any)
	for _, values := range lists {
		list, _ := values.([]any)
		other := func(v any) bool {
			name, _ := v.(string)
			return !strings.HasPrefix(name, "nightly")
		}
		if len(list) > 0 && !slices.ContainsFunc(list, other) {
			return true
		}
	}
	return false
}
