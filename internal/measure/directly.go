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
// itself: npx and the like take longer than many a test. What they add to the environment
// beside PATH is missing.
func (m *Meter) Directly(root string, c Check) Check {
	i := slices.IndexFunc(starters, func(s []string) bool {
		return len(c.Command) > len(s) && slices.Equal(c.Command[:len(s)], s)
	})
	if i < 0 || runtime.GOOS == "windows" { // a script of cmd there
		return c
	}
	args := c.Command[len(starters[i]):]
	if strings.HasPrefix(args[0], "-") || strings.ContainsRune(args[0], '/') {
		return c
	}
	for dir := path.Clean(filepath.ToSlash(c.Dir)); ; dir = path.Dir(dir) {
		bin := filepath.Join(root, filepath.FromSlash(dir), "node_modules", ".bin")
		program := filepath.Join(bin, args[0])
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			c.Command = append([]string{program}, args[1:]...)
			c.Env = append(slices.Clone(c.Env), "PATH="+bin+string(filepath.ListSeparator)+m.lookup("PATH"))
			return c
		}
		if dir == "." || dir == "/" {
			return c
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
