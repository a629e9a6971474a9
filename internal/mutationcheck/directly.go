package mutationcheck

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"supervise/internal/measure"
	"supervise/internal/projectfile"
	"supervise/internal/regexp"
)

// packageRunners are the commands of package managers that start a program of the dependencies.
var packageRunners = [][]string{{"npx", "--no-install"}, {"bunx", "--no-install"}, {"pnpm", "exec"}}

// startDirectly returns the check of a tree so that it starts the program of the dependencies
// itself, without npx and the like, and without what only measures coverage: both take
// longer than many a test. onPath is PATH as the checks have it; what npx adds to the
// environment in addition to it is missing.
func startDirectly(root, onPath string, c measure.Check) measure.Check {
	i := slices.IndexFunc(packageRunners, func(s []string) bool {
		return len(c.Command) > len(s) && slices.Equal(c.Command[:len(s)], s)
	})
	if i < 0 || runtime.GOOS == "windows" { // a script of cmd there
		return c
	}
	args := c.Command[len(packageRunners[i]):]
	if tool := args[0]; tool == "c8" || tool == "nyc" && !mayPreload(filepath.Join(root, filepath.FromSlash(c.Dir))) {
		args = args[max(0, slices.IndexFunc(args, func(a string) bool { return a != tool && !strings.HasPrefix(a, "-") })):]
	}
	bin := binFolder(root, c.Dir, args[0])
	if bin == "" {
		return c
	}
	c.Command = append([]string{filepath.Join(bin, args[0])}, args[1:]...)
	c.Env = append(slices.Clone(c.Env), "PATH="+bin+string(filepath.ListSeparator)+onPath)
	return c
}

// mayPreload reports whether nyc may load modules into the tests, as its option require does.
func mayPreload(dir string) bool {
	for _, name := range []string{"package.json", ".nycrc", ".nycrc.json", ".nycrc.yml", ".nycrc.yaml", "nyc.config.js", "nyc.config.cjs", "nyc.config.mjs"} {
		text, err := projectfile.Read(filepath.Join(dir, name), projectfile.Manifest)
		if err == nil && (requireOptionRE.Match(text) || path.Ext(name) == ".js") {
			return true
		}
	}
	return false
}

var requireOptionRE = regexp.MustCompile(`(?m)["']?\brequire\b["']?\s*:`)

// binFolder returns the nearest folder of a tree that has the program of a dependency,
// for a folder in it; "" if there is none.
func binFolder(root, dir, program string) string {
	if strings.HasPrefix(program, "-") || strings.ContainsRune(program, '/') {
		return ""
	}
	for dir = path.Clean(filepath.ToSlash(dir)); ; dir = path.Dir(dir) {
		bin := filepath.Join(root, filepath.FromSlash(dir), "node_modules", ".bin")
		if info, err := os.Stat(filepath.Join(bin, program)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return bin
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}
