package environment

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"supervise/internal/projectfile"
	"supervise/internal/regexp"
)

// Editable returns the folders, absolute and sorted, of packages that are installed to be edited
// in place (pip install -e, uv, poetry), for the Python that the checks start. An import runs the
// code in these folders, from any working directory.
func (w Watch) Editable(ctx context.Context) []string {
	into := map[string]*ecosystem{}
	for dir := w.Root; ; dir = filepath.Dir(dir) {
		for _, name := range []string{".venv", "venv", "env"} {
			addSitePackages(filepath.Join(dir, name), into)
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}

	for _, kv := range w.Env {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT":
			addSitePackages(value, into)
		}
	}

	askedSites.Lock()
	w.Sites = askedSites.sites
	w.addInterpreters(ctx, into)
	askedSites.Unlock()
	var out []string
	for site := range into {
		out = append(out, readEditable(site)...)
	}

	slices.Sort(out)
	return slices.Compact(out)
}

// askedSites caches the folders of packages by interpreter, which do not change while a process
// runs.
var askedSites = struct {
	sync.Mutex
	sites map[string][]string
}{sites: map[string][]string{}}

// mappingPattern matches a package and its folder in the finder that setuptools writes:
// 'shop': '/home/ann/shop/src'.
var mappingPattern = regexp.MustCompile(`'([\w.]+)': '([^'\n]+)'`)

// readEditable returns the other folders that a folder of packages refers to.
func readEditable(site string) []string {
	var out []string
	for _, e := range readEntries(site) {
		finder := strings.HasPrefix(e.Name(), "__editable__") && strings.HasSuffix(e.Name(), "_finder.py")
		if !finder && filepath.Ext(e.Name()) != ".pth" {
			continue
		}
		text, err := projectfile.ReadAnywhere(filepath.Join(site, e.Name()), projectfile.Manifest)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			switch {
			case finder && strings.HasPrefix(line, "MAPPING"):
				out = append(out, readMapping(line)...)
			case !finder && filepath.IsAbs(line):
				out = append(out, filepath.Clean(line))
			}
		}
	}
	return out
}

// readMapping returns the folders that contain the packages of a mapping.
func readMapping(line string) (out []string) {
	for _, m := range mappingPattern.FindAllStringSubmatch(line, -1) {
		folder, relative := filepath.ToSlash(filepath.Clean(m[2])), strings.ReplaceAll(m[1], ".", "/")
		if parent, ok := strings.CutSuffix(folder, "/"+relative); ok {
			out = append(out, filepath.FromSlash(parent))
		}
	}
	return out
}
