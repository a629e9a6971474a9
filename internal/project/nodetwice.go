package project

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/shell"
)

// emits are options of tsc that say what it writes, not what it checks.
var emits = strings.Fields("--noEmit --outDir= --declaration -d --sourceMap --declarationMap --listEmittedFiles --pretty --preserveWatchOutput")

// impliedBy is the SHA-256 of the package.json with which a proposed build runs the check as
// well, "" if none does.
func (n node) impliedBy(l nodeLinter, args []string, checks []Check) string {
	if l.name != "tsc" || !n.isBuilt(args, checks) {
		return ""
	}
	sum := sha256.Sum256([]byte(n.Read("package.json")))
	return hex.EncodeToString(sum[:])
}

// isBuilt reports whether a build runs tsc with the same arguments, and fails if that does.
func (n node) isBuilt(args []string, checks []Check) bool {
	same := func(other []string) bool {
		return slices.Equal(comparableArgs(args), comparableArgs(other))
	}
	return slices.ContainsFunc(checks, func(c Check) bool {
		if c.Kind != Build {
			return false
		}
		if slices.Equal(c.Command, n.scriptCommand("build")) {
			return slices.ContainsFunc(findCalls(n.certainCommands("build", 0), "tsc", ""), func(c call) bool { return c.plain && len(c.env) == 0 && same(c.args) })
		}
		i := slices.Index(c.Command, "tsc")
		return i >= 0 && len(c.Env) == 0 && same(c.Command[i+1:])
	})
}

// comparableArgs are the arguments of tsc by which two calls of it check the same.
func comparableArgs(args []string) []string {
	out := slices.Clone(framework.WithoutOptions(args, emits))
	for i, a := range out {
		switch a {
		case "-b":
			out[i] = "--build"
		case "-p":
			out[i] = "--project"
		}
	}
	return out
}

// certainCommands returns the commands of a script without which it fails. Hooks like prebuild are
// none: not every package manager runs them.
func (n node) certainCommands(script string, depth int) []segment {
	line := n.scripts[script]
	other := func(c shell.Command) bool { return c.Op != "&&" && c.Op != "" }
	if slices.ContainsFunc(shell.Commands(line), other) || depth > 4 {
		return nil
	}
	var out []segment
	for _, s := range splitCommands(line) {
		names := n.nestedScripts(s.words)
		if len(names) == 0 {
			out = append(out, s)
		}
		for _, name := range names {
			out = append(out, n.certainCommands(name, depth+1)...)
		}
	}
	return out
}
