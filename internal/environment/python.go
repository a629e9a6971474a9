package environment

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/framework"
	"supervise/internal/git"
	"supervise/internal/projectfile"
)

// python are folders named site-packages. Each package has a RECORD with the sums of its
// files.
var python = ecosystem{
	wanted: func(name string) bool {
		switch path.Ext(name) {
		case ".py", ".pth", ".so":
			return true
		}
		return path.Base(name) == "RECORD"
	},
	into: func(folder string) bool {
		base := path.Base(folder)
		return base != "__pycache__" && !strings.HasPrefix(base, ".") && !strings.HasSuffix(base, ".egg")
	},
	read: func(w Watch, p *place) {
		p.records = map[string]string{}
		for name := range p.files {
			if path.Base(name) == "RECORD" {
				readRecord(p, name)
			}
		}
	},
	edited: editedPython,
}

// readRecord takes in the sums of one package, under the name and version of it where
// the same version had another sum.
func readRecord(p *place, name string) {
	f, err := projectfile.OpenAnywhere(p.path(name), projectfile.Source)
	if err != nil {
		return
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	for row, err := r.Read(); err == nil; row, err = r.Read() {
		if sum, ok := strings.CutPrefix(at(row, 1), "sha256="); ok {
			file := path.Clean(filepath.ToSlash(row[0]))
			p.records[file] = sum
			p.records[path.Dir(name)+"\x00"+file] = sum
		}
	}
}

func at(row []string, i int) string {
	if i < len(row) {
		return row[i]
	}
	return ""
}

func editedPython(was, now *place) []edited {
	var out []edited
	seen := map[string]bool{}
	for _, file := range now.touched(was) {
		top, _, _ := strings.Cut(file, "/")
		if path.Base(file) == "RECORD" || seen[top] || unmanaged(file) || !otherThanRecorded(was, now, file) {
			continue
		}
		_, existed := was.files[file]
		recorded := now.records[file] != ""
		what := "is not what pip recorded when it installed it: put it back with pip install --force-reinstall"
		if !recorded && !existed {
			what = "is new among the installed packages, and no package brought it: delete it"
		}
		seen[top] = true
		out = append(out, edited{now.path(file), top + " " + what})
	}
	return out
}

// unmanaged reports whether a file is one that tools write without a record.
func unmanaged(file string) bool {
	base := path.Base(file)
	return base == "easy-install.pth" || base == "distutils-precedence.pth" || strings.HasPrefix(base, "__editable__") || strings.HasPrefix(base, "_virtualenv.") || strings.HasSuffix(base, ".egg-link")
}

// otherThanRecorded reports whether a file differs from what the record of its package
// says, or the record of the same version from what it was. A file that is in no record,
// and was not before, was installed in an older way.
func otherThanRecorded(was, now *place, file string) bool {
	want := now.records[file]
	for key, sum := range was.records { // the same package in the same version
		if dist, name, ok := strings.Cut(key, "\x00"); ok && name == file && now.records[dist+"\x00"+file] != "" && now.records[dist+"\x00"+file] != sum {
			return true
		}
	}
	if want == "" {
		_, existed := was.files[file]
		return was.records[file] != "" || !existed && !generated(was, file)
	}
	text, err := projectfile.ReadAnywhere(now.path(file), projectfile.Git)
	if err != nil {
		return false
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:]) != strings.TrimRight(want, "=")
}

// generated reports whether a package that was there before may have written a new file
// of its own, such as the tables of a parser.
func generated(was *place, file string) bool {
	top, _, below := strings.Cut(file, "/")
	if !below || framework.PythonPackage.MatchString(top) {
		return false
	}
	for name := range was.files {
		if strings.HasPrefix(name, top+"/") {
			return true
		}
	}
	return false
}

// sitePackages adds the folders of a virtual environment.
func sitePackages(environment string, into map[string]*ecosystem) {
	for _, pattern := range []string{"lib/python*/site-packages", "Lib/site-packages"} {
		found, _ := filepath.Glob(filepath.Join(environment, filepath.FromSlash(pattern)))
		for _, dir := range found {
			into[dir] = &python
		}
	}
}

// interpreters adds the folders of the interpreters that the checks start, outside of the
// tree as well.
func (w Watch) interpreters(ctx context.Context, into map[string]*ecosystem) {
	for _, name := range w.Programs {
		program := name
		if !strings.ContainsRune(name, '/') {
			program = lookPath(name, w.Env, w.Root)
		} else if !filepath.IsAbs(name) {
			program = filepath.Join(w.Root, name)
		}
		if program == "" {
			continue
		}
		switch {
		case filepath.Base(program) == "go":
			w.goRoot(program, into)
		case !strings.HasPrefix(filepath.Base(program), "python") && !pythonScript(program):
		case isFile(filepath.Join(filepath.Dir(program), "..", "pyvenv.cfg")):
			sitePackages(filepath.Join(filepath.Dir(program), ".."), into)
		case strings.HasPrefix(filepath.Base(program), "python"):
			for _, dir := range w.ask(ctx, program) {
				into[dir] = &python
			}
		}
	}
}

// pythonScript reports whether a program is a script in Python.
func pythonScript(program string) bool {
	f, err := projectfile.OpenAnywhere(program, projectfile.Any)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	return strings.HasPrefix(line, "#!") && strings.Contains(line, "python")
}

// ask asks an interpreter where its packages are, once: see [Sites].
func (w Watch) ask(ctx context.Context, program string) []string {
	if dirs, known := w.Sites[program]; known || w.Sites == nil {
		return dirs
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-I", "-S", "-c", "import site, sysconfig; print(sysconfig.get_path('purelib')); print(site.getusersitepackages())")
	cmd.Dir, cmd.Env = filepath.Dir(program), w.Env
	out, err := cmd.Output()
	git.InvalidateChecks()
	if err != nil {
		out = nil
	}
	w.Sites[program] = []string{}
	for dir := range strings.Lines(string(out)) {
		if dir = strings.TrimSpace(dir); filepath.IsAbs(dir) {
			w.Sites[program] = append(w.Sites[program], dir)
		}
	}
	return w.Sites[program]
}
