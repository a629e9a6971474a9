package mutantrun

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

// startDirectly returns a check whose command starts its program in node_modules/.bin itself:
// "npx --no-install c8 mocha" becomes ".../node_modules/.bin/mocha". Package managers and tools
// that measure coverage take longer than many tests. It returns any other check as it is. onPath
// is the PATH of the checks; other variables that npx sets are missing.
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

// mayPreload reports whether the configuration of nyc in a folder may load modules into the
// tests with its option require. Then the tests need nyc.
func mayPreload(dir string) bool {
	for _, name := range []string{"package.json", ".nycrc", ".nycrc.json", ".nycrc.yml", ".nycrc.yaml", "nyc.config.js", "nyc.config.cjs", "nyc.config.mjs"} {
		text, err := projectfile.Read(filepath.Join(dir, name), projectfile.Manifest)
		if err == nil && (requireOptionRE.Match(text) || path.Ext(name) == ".js") {
			return true
		}
	}
	return false
}

// requireOptionRE matches the option require in JSON, YAML or JavaScript: "require": ["ts-node"].
var requireOptionRE = regexp.MustCompile(`(?m)["']?\brequire\b["']?\s*:`)

// binFolder returns the node_modules/.bin with the program that is nearest to dir, in dir or
// above it up to the root. It returns "" if there is none.
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
