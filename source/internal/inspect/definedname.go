package inspect

import (
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source/internal/language"
)

// runnerModuleRE matches the name of a module that exports the functions of a test runner.
var runnerModuleRE = regexp.MustCompile(`^(?:` + framework.NodeModules + `)$`)

// definesName reports whether the file defines a function with the name, or imports it from a
// module other than a test runner. A call of "fit" is then not a focused test.
func (in *inspector) definesName(name string) bool {
	name = regexp.QuoteMeta(name)
	if in.Lang == language.Ruby {
		return regexp.MustCompile(`(?m)^[ \t]*def (?:self\.)?` + name + `\b`).Match(in.Masked)
	}

	// A definition, as in "function fit" or "const fit =".
	defined := regexp.MustCompile(`\bfunction\*?\s+` + name + `\b|\b(?:const|let|var)\s+` + name + `\s*[=:;]`)
	if defined.Match(in.Masked) {
		return true
	}

	// An import, as in import { fit } from "./curve" or const { fit } = require("./curve"). The
	// group is the module.
	taken := regexp.MustCompile(`\bimport\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?(?:\{[^}]*\b` + name + `\b[^}]*\}|` + name + `)\s*from\s*["']([^"']+)["']` +
		`|\b(?:const|let|var)\s+(?:\{[^}]*\b` + name + `\b[^}]*\})\s*=\s*(?:await\s+)?(?:require|import)\(\s*["']([^"']+)["']`)
	for _, m := range taken.FindAllSubmatch(in.plain, -1) {
		if !runnerModuleRE.Match(append(m[1], m[2]...)) {
			return true
		}
	}
	return false
}
