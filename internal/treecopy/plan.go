package treecopy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/environment"
	"supervise/internal/measure"
	"supervise/internal/projectfile"
	"supervise/runner"
)

// PlanForCopy returns the plan for a copy of the tree at root, so that its checks run the code
// of the copy with what is installed for the tree. env is the environment of the checks;
// nil is that of this process.
func PlanForCopy(ctx context.Context, p measure.Plan, root string, env []string) measure.Plan {
	if env == nil {
		env = os.Environ()
	}
	sources := findEditableDirs(ctx, p, root, env)
	checks := slices.Clone(p.Checks)
	for i, c := range checks {
		checks[i].Env = append(slices.Clone(c.Env), extraVars(p, root, sources, slices.Concat(env, c.Env))...)
	}
	p.Checks = checks
	return p
}

// ExtraEnv returns additional variables for programs that run in a copy of the tree at root
// with the environment env; the plan is that of the copy. Packages that are edited in
// place in the tree are those of the copy. uv installs nothing, since that would change
// the environment of the tree.
func ExtraEnv(ctx context.Context, p measure.Plan, root string, env []string) []string {
	return extraVars(p, root, findEditableDirs(ctx, p, root, env), env)
}

// extraVars returns the additional variables of ExtraEnv. sources are the folders of packages
// that are edited in place, relative to the root of the plan.
func extraVars(p measure.Plan, root string, sources, env []string) (out []string) {
	top, _ := projectfile.FindCheckout(root)
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".venv")); err == nil {
			out = append(out, "UV_NO_SYNC=1")
			break
		}
		if dir == top || dir == filepath.Dir(dir) {
			break
		}
	}

	if len(sources) == 0 {
		return out
	}

	var path []string
	for _, rel := range sources {
		path = append(path, filepath.Join(p.Root, rel))
	}
	list := string(os.PathListSeparator)
	return append(out, prependPath(env, "PYTHONPATH", strings.Join(path, list)))
}

// EditableDirs returns the folders whose packages are edited in place, relative to the root of
// the plan, see [environment.Watch.Editable]. For a copy it returns the folders that its
// checks have in PYTHONPATH.
func EditableDirs(ctx context.Context, p measure.Plan) []string {
	out := findEditableDirs(ctx, p, p.Root, os.Environ())
	for _, c := range p.Checks {
		for _, v := range c.Env {
			value, ok := strings.CutPrefix(v, "PYTHONPATH=")
			for _, dir := range filepath.SplitList(value) {
				if rel, err := filepath.Rel(p.Root, dir); ok && err == nil && filepath.IsAbs(dir) {
					out = append(out, rel)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// findEditableDirs returns the folders of packages that are edited in place, relative to root.
// Folders outside of the checkout do not count.
func findEditableDirs(ctx context.Context, p measure.Plan, root string, env []string) []string {
	root = resolveLinks(root)
	top, _ := projectfile.FindCheckout(root)
	var out []string
	for _, dir := range (environment.Watch{Root: root, Programs: p.Programs(), Env: env}).Editable(ctx) {
		dir = resolveLinks(dir)
		below, err := filepath.Rel(top, dir)
		rel, fault := filepath.Rel(root, dir)
		if err == nil && fault == nil && filepath.IsLocal(below) {
			out = append(out, rel)
		}
	}
	return out
}

// resolveLinks returns the path of a folder without symbolic links, and the same path if it
// does not exist.
func resolveLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// prependPath returns a variable with folders added before its value in env.
func prependPath(env []string, name, folders string) string {
	if old := runner.Getenv(env, name); old != "" {
		folders += string(os.PathListSeparator) + old
	}
	return name + "=" + folders
}

// MovePlan returns the plan for a tree in another folder.
func MovePlan(p measure.Plan, root string) measure.Plan {
	moved := func(list []string) []string {
		out := slices.Clone(list)
		for i, s := range out {
			out[i] = replacePath(s, p.Root, root)
		}
		return out
	}
	checks := slices.Clone(p.Checks)
	for i, c := range checks {
		checks[i].Command, checks[i].Env, checks[i].Reports = moved(c.Command), moved(c.Env), moved(c.Reports)
	}
	p.Root, p.Checks = root, checks
	return p
}

// replacePath replaces the name of a folder in a text, if it is a complete path or the start
// of one.
func replacePath(text, from, to string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, from)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if after == "" || strings.ContainsRune(`/\ '":;,)`, rune(after[0])) {
			b.WriteString(to)
		} else {
			b.WriteString(from)
		}
		text = after
	}
}
