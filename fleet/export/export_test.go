package export

import (
	"strings"
	"testing"

	"supervise/fleet/taskfile"

	"github.com/goccy/go-yaml"
)

// TestGitHub writes a workflow that is YAML, with a job for each candidate.
func TestGitHub(t *testing.T) {
	t.Parallel()
	f := taskfile.File{Fleet: "night", Tasks: []taskfile.Task{{ID: "a", Candidates: 2}, {ID: "b", Candidates: 1}}}
	text, err := GitHub(f, "ci/night.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Env  map[string]string `yaml:"env"`
		Jobs map[string]struct {
			Needs    string `yaml:"needs"`
			Strategy struct {
				Matrix struct {
					Task    []string         `yaml:"task"`
					Include []map[string]any `yaml:"include"`
				} `yaml:"matrix"`
			} `yaml:"strategy"`
			Steps []struct {
				Run string            `yaml:"run"`
				Env map[string]string `yaml:"env"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	candidates := w.Jobs["candidate"]
	if len(candidates.Strategy.Matrix.Include) != 3 || candidates.Needs != "prepare" || len(w.Jobs["choose"].Strategy.Matrix.Task) != 2 || w.Env["TASKS"] != "ci/night.yaml" {
		t.Errorf("%+v\n%s", w, text)
	}
	for name, job := range w.Jobs {
		if len(job.Steps) != 2 || !strings.HasPrefix(job.Steps[1].Run, "supervise-fleet job ") || job.Steps[1].Env["STEP"] != "${{ github.job }}" {
			t.Errorf("%s: %+v", name, job)
		}
	}
	f.Tasks[0].Candidates = 400
	if _, err := GitHub(f, "x"); err == nil {
		t.Error("a matrix of 401 jobs")
	}
}

// TestKubernetes writes files that are YAML, and sandboxes that can work.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	files, err := Kubernetes(Workers{Image: "registry/worker:1", Queue: "q", Address: "temporal:7233", Namespace: "n", Replicas: 5})
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	for name, text := range files {
		var v map[string]any
		if err := yaml.Unmarshal(text, &v); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	for _, want := range []string{"hostUsers: false", "seccompProfile: {type: Unconfined}", "drop: [ALL]", "[worker, --task-queue, q, --dir, /work]", `"temporal:7233"`} {
		if !strings.Contains(string(files["worker.yaml"]), want) {
			t.Errorf("worker.yaml lacks %q", want)
		}
	}
	if text := string(files["kustomization.yaml"]); !strings.Contains(text, "count: 5") || !strings.Contains(text, "newName: registry/worker:1") {
		t.Error(text)
	}
}
