package project

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/shell"
)

// segment is one command of a script, such as one of package.json.
type segment struct {
	env   []string // NAME=value
	words []string
	plain bool // it needs no shell
	globs bool // it has patterns that the shell expands
}

// endlessPattern matches programs that watch for changes by default, as in "nodemon test.js" or
// "karma start".
var endlessPattern = regexp.MustCompile(`\b(nodemon|chokidar|tsc-watch)\b|\bcypress open\b|^\s*(npx )?(ng test|karma start)((?: +\S+)*)$`)

// endsPattern matches the options with which such a program runs once: --single-run, --watch=false.
var endsPattern = regexp.MustCompile(`--(single-run|no-watch|watch[= ]false)`)

// watchPattern matches options to watch for changes.
var watchPattern = regexp.MustCompile(`(^|\s)(--watch(All)?|-w)(\s|$)`)

// delegates are programs that run the scripts of other packages.
var delegates = []string{"turbo", "nx", "lerna", "wsrun", "rush", "lage", "moon", "ultra"}

// maxSegments limits the commands that are taken from one script.
const maxSegments = 100

// flatten returns the commands of a script. It replaces a command that runs another script, such
// as "npm run unit", by the commands of that script. A script "pretest" runs before "test". within
// are the outer scripts, which a script must not include again. The list is empty if the script
// does not exist.
func (n node) flatten(script string, within ...string) []segment {
	if slices.Contains(within, script) || len(within) > 4 {
		return nil
	}

	within = append(slices.Clip(within), script)
	var out []segment
	if n.scripts["pre"+script] != "" && n.scripts[script] != "" {
		out = n.flatten("pre"+script, within...)
	}

	for _, s := range splitCommands(n.scripts[script]) {
		names := n.nestedScripts(withoutCoverageTool(s.words))
		if len(names) == 0 {
			out = append(out, s)
		}
		for _, name := range names {
			for _, in := range n.flatten(name, within...) {
				in.env = slices.Concat(s.env, in.env)
				out = append(out, in)
			}
		}
		if len(out) > maxSegments {
			return out[:maxSegments]
		}
	}

	return out
}

// nestedScripts returns the scripts of the project that a command runs: "lint" and "unit" of
// "run-s lint unit". It returns nil for other commands.
func (n node) nestedScripts(words []string) []string {
	if len(words) < 2 || !runsScripts(words[0], words[1]) {
		return nil
	}
	var names []string
	for _, w := range words[1:] {
		switch {
		case w == "--":
			return n.existingScripts(names)
		case isForMembers(w):
			return nil
		case strings.HasPrefix(w, "-") || w == "run" || w == "run-script" || w == "task" && words[0] == deno.name:
		case w == "t" && words[0] == "npm":
			names = append(names, "test")
		default:
			names = append(names, w)
		}
	}
	return n.existingScripts(names)
}

// runsScripts reports whether a program runs scripts. Bun and Deno can also run tests themselves.
func runsScripts(program, word string) bool {
	switch program {
	case deno.name:
		return word == "task"
	case "bun":
		return word != "test"
	}
	return slices.Contains(scriptRunners, program)
}

// scriptRunners run the scripts of package.json that follow them.
var scriptRunners = []string{"npm", "pnpm", "yarn", "run-s", "run-p", "npm-run-all"}

// isForMembers reports whether a word makes a package manager run the scripts of workspace
// members.
func isForMembers(w string) bool {
	return w == "-r" || w == "--recursive" || w == "-ws" || w == "workspaces" ||
		strings.HasPrefix(w, "--workspace") || strings.HasPrefix(w, "--filter")
}

// existingScripts returns the names that are scripts. A name may be a pattern, such as "test:*".
func (n node) existingScripts(names []string) []string {
	var out []string
	for _, name := range names {
		if before, ok := strings.CutSuffix(name, "*"); ok {
			for script := range n.scripts {
				if strings.HasPrefix(script, before) {
					out = append(out, script)
				}
			}
			slices.Sort(out)
		} else if _, ok := n.scripts[name]; ok {
			out = append(out, name)
		}
	}
	return out
}

// isDelegated reports whether a script runs the scripts of other packages, as in "turbo run test".
func isDelegated(parts []segment) bool {
	return slices.ContainsFunc(parts, func(s segment) bool {
		return slices.ContainsFunc(s.words, func(w string) bool {
			return slices.Contains(delegates, w) || w == "-r" || w == "--recursive" || w == "-ws" || w == "workspaces" ||
				strings.HasPrefix(w, "--workspaces") || strings.HasPrefix(w, "--filter")
		})
	})
}

// splitCommands returns the commands of a shell line. It drops a command after a pipe or "||",
// since that only formats or hides results.
func splitCommands(line string) []segment {
	var out []segment
	keep := true
	for _, c := range shell.Commands(line) {
		s := segment{plain: true}
		for _, w := range c.Words {
			s.add(w, c.Group)
		}
		if keep && len(s.words) > 0 {
			out = append(out, s)
		}
		keep = c.Op != "||" && c.Op != "|"
	}
	return out
}

// add adds a word to the command, or a variable before its first word.
func (s *segment) add(w shell.Word, group bool) {
	s.plain = s.plain && !group && !w.Expands && !w.Redirect
	s.globs = s.globs || w.Pattern
	switch {
	case len(s.words) > 0:
		s.words = append(s.words, w.Text)
	case shell.IsAssignment(w.Text):
		s.env = append(s.env, w.Text)
	case !slices.Contains([]string{"cross-env", "env", "cross-env-shell"}, w.Text):
		s.words = append(s.words, w.Text)
	}
}

// call is a command of a script that runs a known program.
type call struct {
	segment
	program string
	args    []string // the words after the program
}

// callOf returns the call of the program in the command, through any wrapper, and whether there is
// one. sub is the subcommand that it must have, or "".
func (s segment) callOf(program, sub string) (call, bool) {
	at := slices.IndexFunc(s.words, func(w string) bool { return programName(w) == program })
	if at < 0 || !areWrappers(s.words[:at]) || sub != "" && !slices.Contains(s.words[at+1:], sub) {
		return call{}, false
	}
	c := call{segment: s, program: program, args: s.words[at+1:]}
	if at > 0 && s.words[0] == "node" { // node --flag node_modules/.bin/program: the flags are kept
		c.env = append(slices.Clip(c.env), "NODE_OPTIONS="+strings.Join(s.words[1:at], " "))
	}
	return c, true
}

// findCalls returns the calls of the program in several commands, see callOf.
func findCalls(parts []segment, program, sub string) []call {
	var out []call
	for _, s := range parts {
		if c, ok := s.callOf(program, sub); ok {
			out = append(out, c)
		}
	}
	return out
}

// programName returns the name of the program that a word of a script runs:
// node_modules/.bin/jest and node_modules/jest/bin/jest.js are jest. Other words do not change.
func programName(word string) string {
	base := path.Base(word)
	if strings.Contains(word, "node_modules/") || strings.HasPrefix(word, "./node_modules/") {
		for _, end := range []string{".js", ".mjs", ".cjs"} {
			base = strings.TrimSuffix(base, end)
		}
		return strings.TrimPrefix(base, "_")
	}
	if word == "_mocha" {
		return "mocha"
	}
	return word
}

// wrappers are programs and subcommands that run the program that follows.
var wrappers = []string{"npx", "pnpx", "bunx", "pnpm", "yarn", "bun", "exec", "dlx", "x", "run", "c8", "nyc", "dotenv", "dotenvx", "is-ci", "node", "env"}

// areWrappers reports whether all words are wrappers, their flags, or variables.
func areWrappers(words []string) bool {
	for i, w := range words {
		flagValue := i > 0 && strings.HasPrefix(words[i-1], "-")
		if !slices.Contains(wrappers, w) && !strings.HasPrefix(w, "-") && !flagValue && !shell.IsAssignment(w) {
			return false
		}
	}
	return true
}

// unreadableNode are other programs that run tests, many of them in browsers. Their output cannot
// be read.
var unreadableNode = []string{
	"web-test-runner", "wtr", "karma", "cypress", "testem", "airtap", "browserstack-runner", "wdio", "nightwatch", "testcafe",
	"tstyche", "qunit", "vows", "nodeunit", "alsatian", "ospec", "zora", "pta",
}

// unmeasuredTests returns the program with which a command runs tests that are not measured: one
// of an unknown framework, or one whose call needs a shell. It returns nil if there is none.
func (n node) unmeasuredTests(s segment) []string {
	if r, _, ok := n.runnerOf(s); ok {
		return []string{r.program}
	}
	calls := func(program string) bool {
		_, ok := s.callOf(program, "")
		return ok
	}
	if i := slices.IndexFunc(unreadableNode, calls); i >= 0 {
		return unreadableNode[i : i+1]
	}
	if c, ok := s.callOf("node", ""); ok {
		at := slices.IndexFunc(c.args, func(w string) bool { return !strings.HasPrefix(w, "-") })
		if at >= 0 && namedForTestsPattern.MatchString(c.args[at]) && n.First(c.args[at], c.args[at]+".js", c.args[at]+"/index.js") != "" {
			return []string{"node " + c.args[at]}
		}
	}
	return nil
}
