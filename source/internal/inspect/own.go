package inspect

import (
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source/internal/language"
)

// runners match the modules that hand out the functions of a runner.
var runners = regexp.MustCompile(`^(?:` + framework.NodeModules + `)$`)

// ownName reports whether a file defines a function of that name, or imports one from
// another module than a runner: a model that is fitted is not a test in focus.
func (in *inspector) ownName(name string) bool {
	name = regexp.QuoteMeta(name)
	if in.Lang == language.Ruby {
		return regexp.MustCompile(`(?m)^[ \t]*def (?:self\.)?` + name + `\b`).Match(in.Masked)
	}
	defined := regexp.MustCompile(`\bfunction\*?\s+` + name + `\b|\b(?:const|let|var)\s+` + name + `\s*[=:;]`)
	if defined.Match(in.Masked) {
		return true
	}
	taken := regexp.MustCompile(`\bimport\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?(?:\{[^}]*\b` + name + `\b[^}]*\}|` + name + `)\s*from\s*["']([^"']+)["']` +
		`|\b(?:const|let|var)\s+(?:\{[^}]*\b` + name + `\b[^}]*\})\s*=\s*(?:await\s+)?(?:require|import)\(\s*["']([^"']+)["']`)
	for _, m := range taken.FindAllSubmatch(in.plain, -1) {
		if !runners.Match(append(m[1], m[2]...)) {
			return true
		}
	}
	return false
}
