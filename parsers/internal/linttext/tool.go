package linttext

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// rulesAtEnd lists the tools that print the rule after the message.
var rulesAtEnd = map[string]bool{
	"gcc": true, "clang-tidy": true, "cppcheck": true, "shellcheck": true, "doxygen": true, "sphinx": true, "mypy": true, "checkstyle": true,
	"cpplint": true, "actionlint": true, "yamllint": true, "eslint": true, "clang": true, "flow": true, "ansible-lint": true,
}

// languages maps file extensions, in lower case, to the compiler or linter that most likely
// reports about such a file.
var languages = map[string]string{
	"java": "javac", "kt": "kotlinc", "kts": "kotlinc", "scala": "scalac", "rs": "rustc", "swift": "swiftc", "hs": "ghc", "go": "go build",
	"c": "gcc", "h": "gcc", "cc": "gcc", "cpp": "gcc", "cxx": "gcc", "c++": "gcc", "hpp": "gcc", "hh": "gcc", "hxx": "gcc", "m": "gcc", "mm": "gcc",
	"ipp": "gcc", "inl": "gcc", "s": "gcc", "l": "gcc", "y": "gcc", "cu": "gcc", "f": "gcc", "f90": "gcc", "for": "gcc", "tpp": "gcc", "f77": "gcc", "f95": "gcc",
	"py": "mypy", "pyi": "mypy", "sh": "shellcheck", "bash": "shellcheck", "zig": "zig", "cs": "csc", "fs": "fsc", "vb": "vbc", "pas": "dcc",
	"php": "phpcs", "rst": "sphinx", "ts": "tsc", "tsx": "tsc",
}

// toolOf detects the tool of a line "file:line:column: level: message", from the file and the
// rule after the message. That rule stays in the message. The tool is "" for an unknown
// extension.
func toolOf(f metric.Finding) (tool, rule string) {
	base := f.File[strings.LastIndexByte(f.File, '/')+1:]
	tool = languages[strings.ToLower(base[strings.LastIndexByte(base, '.')+1:])]
	last, _ := trailingRule(f.Message)
	switch {
	case f.Rule != "":
		return tool, f.Rule
	case strings.HasPrefix(last, "SC") && shellcheckRulePattern.MatchString(last):
		tool = "shellcheck"
	case tool == "gcc" && last != "" && !strings.HasPrefix(last, "-") && strings.Contains(last, "-"):
		tool = "clang-tidy"
	case tool == "gcc" && last != "" && last[0] != '-' && cppcheckRulePattern.MatchString(last):
		tool = "cppcheck"
	case strings.HasPrefix(f.File, "<"):
		tool = "gcc"
	}
	return tool, ""
}

var (
	// shellcheckRulePattern matches a rule of shellcheck: "SC2086".
	shellcheckRulePattern = regexp.MustCompile(`^SC\d+$`)
	// cppcheckRulePattern matches a rule of cppcheck: "nullPointer".
	cppcheckRulePattern = regexp.MustCompile(`^[a-z]+[A-Za-z]*$`)
)
