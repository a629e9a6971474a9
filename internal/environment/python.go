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

// sitePackagesOf describes folders named site-packages. Each package has a RECORD with the sums of
// its files.
var sitePackagesOf = ecosystem{
	isWanted: func(name string) bool {
		switch path.Ext(name) {
		case ".py", ".pth", ".so":
			return true
		}
		return path.Base(name) == "RECORD"
	},
	isSearched: func(folder string) bool {
		base := path.Base(folder)
		return base != "__pycache__" && !strings.HasPrefix(base, ".") && !strings.HasSuffix(base, ".egg")
	},
	readRecords: func(w Watch, p *packageFolder) {
		p.records = map[string]string{}
		for name := range p.files {
			if path.Base(name) == "RECORD" {
				readPythonRecord(p, name)
			}
		}
	},
	findEdits: findPythonEdits,
}

// readPythonRecord reads the sums in the RECORD of one package into p.records, twice: by file, and
// by the folder of the RECORD, a zero byte, and the file. That folder has the version in its name,
// so the second key shows a RECORD that changed within one version.
func readPythonRecord(p *packageFolder, name string) {
	f, err := projectfile.OpenAnywhere(p.pathOf(name), projectfile.Source)
	if err != nil {
		return
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	for row, err := r.Read(); err == nil; row, err = r.Read() {
		if len(row) < 2 {
			continue
		}
		if sum, ok := strings.CutPrefix(row[1], "sha256="); ok {
			file := path.Clean(filepath.ToSlash(row[0]))
			p.records[file] = sum
			p.records[path.Dir(name)+"\x00"+file] = sum
		}
	}
}

// findPythonEdits returns one edit for each package with a file that differs from its record.
func findPythonEdits(earlier, now *packageFolder) []edit {
	var out []edit
	seen := map[string]bool{}
	for _, file := range now.changedFiles(earlier) {
		top, _, _ := strings.Cut(file, "/")
		if path.Base(file) == "RECORD" || seen[top] || isUnrecorded(file) || !differsFromRecord(earlier, now, file) {
			continue
		}
		_, existed := earlier.files[file]
		recorded := now.records[file] != ""
		what := "is not what pip recorded when it installed it: restore it with pip install --force-reinstall"
		if !recorded && !existed {
			what = "is new among the installed packages, and no package brought it: delete it"
		}
		seen[top] = true
		out = append(out, edit{now.pathOf(file), top + " " + what})
	}
	return out
}

// isUnrecorded reports whether a file is one that tools write without a record.
func isUnrecorded(file string) bool {
	base := path.Base(file)
	return base == "easy-install.pth" || base == "distutils-precedence.pth" || strings.HasPrefix(base, "__editable__") || strings.HasPrefix(base, "_virtualenv.") || strings.HasSuffix(base, ".egg-link")
}

// differsFromRecord reports whether a file differs from the record of its package, or that record
// from the earlier one of the same version. A file that is and was in no record was installed in
// an older way.
func differsFromRecord(earlier, now *packageFolder, file string) bool {
	want := now.records[file]
	for key, sum := range earlier.records { // the same package in the same version
		if dist, name, ok := strings.Cut(key, "\x00"); ok && name == file && now.records[dist+"\x00"+file] != "" && now.records[dist+"\x00"+file] != sum {
			return true
		}
	}
	if want == "" {
		_, existed := earlier.files[file]
		return earlier.records[file] != "" || !existed && !isGenerated(earlier, file)
	}
	text, err := projectfile.ReadAnywhere(now.pathOf(file), projectfile.Git)
	if err != nil {
		return false
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:]) != strings.TrimRight(want, "=")
}

// isGenerated reports whether a new file may be written by a package that was there before, such
// as the tables of a parser.
func isGenerated(earlier *packageFolder, file string) bool {
	top, _, below := strings.Cut(file, "/")
	if !below || framework.PythonPackage.MatchString(top) {
		return false
	}
	for name := range earlier.files {
		if strings.HasPrefix(name, top+"/") {
			return true
		}
	}
	return false
}

// addSitePackages adds the folders of a virtual environment.
func addSitePackages(environment string, into map[string]*ecosystem) {
	for _, pattern := range []string{"lib/python*/site-packages", "Lib/site-packages"} {
		found, _ := filepath.Glob(filepath.Join(environment, filepath.FromSlash(pattern)))
		for _, dir := range found {
			into[dir] = &sitePackagesOf
		}
	}
}

// addInterpreters adds the folders of the interpreters that the checks start, outside of the
// tree as well.
func (w Watch) addInterpreters(ctx context.Context, into map[string]*ecosystem) {
	for _, name := range w.Programs {
		program := w.programPath(name)
		if program == "" {
			continue
		}
		switch {
		case filepath.Base(program) == "go":
			w.addGoTesting(program, into)
		case !strings.HasPrefix(filepath.Base(program), "python") && !isPythonScript(program):
		case isFile(filepath.Join(filepath.Dir(program), "..", "pyvenv.cfg")):
			addSitePackages(filepath.Join(filepath.Dir(program), ".."), into)
		case strings.HasPrefix(filepath.Base(program), "python"):
			for _, dir := range w.askForSites(ctx, program) {
				into[dir] = &sitePackagesOf
			}
		}
	}
}

// isPythonScript reports whether a program is a script in Python.
func isPythonScript(program string) bool {
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

// askForSites asks an interpreter for the folders of its packages, once: see Sites of [Watch].
func (w Watch) askForSites(ctx context.Context, program string) []string {
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
