package measure

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// starters are the commands of package managers that start a program of the dependencies.
var starters = [][]string{{"npx", "--no-install"}, {"bunx", "--no-install"}, {"pnpm", "exec"}}

// Directly returns the check of a tree so that it starts the program of the dependencies
// itself, without npx and the like and without c8, which takes notes and changes nothing:
// both take longer than many a test. What npx adds to the environment beside PATH is missing.
func (m *Meter) Directly(root string, c Check) Check {
	i := slices.IndexFunc(starters, func(s []string) bool {
		return len(c.Command) > len(s) && slices.Equal(c.Command[:len(s)], s)
	})
	if i < 0 || runtime.GOOS == "windows" { // a script of cmd there
		return c
	}
	args := c.Command[len(starters[i]):]
	if args[0] == "c8" {
		args = args[max(0, slices.IndexFunc(args, func(a string) bool { return a != "c8" && !strings.HasPrefix(a, "-") })):]
	}
	bin := installedIn(root, c.Dir, args[0])
	if bin == "" {
		return c
	}
	c.Command = append([]string{filepath.Join(bin, args[0])}, args[1:]...)
	c.Env = append(slices.Clone(c.Env), "PATH="+bin+string(filepath.ListSeparator)+m.lookup("PATH"))
	return c
}

// installedIn returns the nearest folder of a tree that has the program of a dependency,
// for a folder in it; "" if there is none.
func installedIn(root, dir, program string) string {
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

// lookup returns the value of a variable that the checks see.
func (m *Meter) lookup(name string) string {
	for _, kv := range slices.Backward(m.environment()) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
