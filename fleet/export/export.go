// Package export writes the tasks of a fleet for a CI service, where no server is needed,
// and manifests of workers.
package export

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"supervise/fleet/taskfile"
)

var (
	//go:embed github.yaml
	githubText string
	//go:embed kubernetes.yaml
	kubernetesText string

	github     = parse("github", githubText)
	kubernetes = parse("kubernetes", kubernetesText)
)

// parse reads a template whose marks are << and >>, since both languages have braces.
func parse(name, text string) *template.Template {
	return template.Must(template.New(name).Delims("<<", ">>").Parse(text))
}

// pair is a candidate of a task.
type pair struct {
	Task      string
	Candidate int
}

// GitHub writes a workflow with a job for each candidate of each task, and one for each task
// that chooses. path is where the task file is in the repository; the tasks work in that
// repository.
func GitHub(f taskfile.File, path string) ([]byte, error) {
	var pairs []pair
	var tasks []string
	for _, t := range f.Tasks {
		tasks = append(tasks, t.ID)
		for n := range t.Candidates {
			pairs = append(pairs, pair{t.ID, n + 1})
		}
	}
	const most = 256 // jobs of a matrix, by the service
	if len(pairs) > most {
		return nil, fmt.Errorf("%d candidates are more than the %d jobs that a matrix may have: write several files", len(pairs), most)
	}
	var b bytes.Buffer
	err := github.Execute(&b, map[string]any{"Fleet": f.Fleet, "Path": path, "Pairs": pairs, "Tasks": strings.Join(tasks, ", ")})
	return b.Bytes(), err
}

// Workers are what the manifests of workers say.
type Workers struct {
	Image, Queue, Address, Namespace string
	Replicas                         int
}

// Kubernetes writes the files of a Kustomize folder, by name.
func Kubernetes(w Workers) (map[string][]byte, error) {
	var b bytes.Buffer
	if err := kubernetes.Execute(&b, w); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, part := range strings.Split(b.String(), "# file: ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		out[name] = []byte(text)
	}
	return out, nil
}
