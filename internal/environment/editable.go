package environment

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"supervise/internal/projectfile"
	"supervise/internal/regexp"
)

// Editable returns the folders, absolute and sorted, whose packages are installed to be
// edited in place (pip install -e, uv, poetry) for the Python that the checks start: what
// imports them runs the code there, wherever it is started.
func (w Watch) Editable(ctx context.Context) []string {
	into := map[string]*ecosystem{}
	for dir := w.Root; ; dir = filepath.Dir(dir) {
		for _, name := range []string{".venv", "venv", "env"} {
			sitePackages(filepath.Join(dir, name), into)
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	for _, kv := range w.Env {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT":
			sitePackages(value, into)
		}
	}
	asked.Lock()
	w.Sites = asked.sites
	w.interpreters(ctx, into)
	asked.Unlock()
	var out []string
	for site := range maps.Keys(into) {
		out = append(out, editableIn(site)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// asked remembers where interpreters have their packages, which does not change while a
// process runs.
var asked = struct {
	sync.Mutex
	sites map[string][]string
}{sites: map[string][]string{}}

// mapped matches a package and its folder in what setuptools writes for one whose folder
// has other things as well.
var mapped = regexp.MustCompile(`'([\w.]+)': '([^'\n]+)'`)

// editableIn reads what a folder of packages has of other folders.
func editableIn(site string) []string {
	var out []string
	for _, e := range entries(site) {
		finder := strings.HasPrefix(e.Name(), "__editable__") && strings.HasSuffix(e.Name(), "_finder.py")
		if !finder && filepath.Ext(e.Name()) != ".pth" {
			continue
		}
		text, err := projectfile.ReadAnywhere(filepath.Join(site, e.Name()), projectfile.Manifest)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); !finder && filepath.IsAbs(line) {
				out = append(out, filepath.Clean(line))
			}
			if !finder || !strings.HasPrefix(line, "MAPPING") {
				continue
			}
			for _, m := range mapped.FindAllStringSubmatch(line, -1) {
				if parent, ok := strings.CutSuffix(filepath.ToSlash(filepath.Clean(m[2])), "/"+strings.ReplaceAll(m[1], ".", "/")); ok {
					out = append(out, filepath.FromSlash(parent))
				}
			}
		}
	}
	return out
}
