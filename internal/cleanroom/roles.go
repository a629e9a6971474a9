package cleanroom

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/regexp"
	"supervise/internal/treecopy"
	"supervise/snapshot"
	"supervise/source"
)

// added is the order in which parts of a change are tried: the most common ones first.
var added = []detector.RelianceKind{detector.OnManifest, detector.OnBuild, detector.OnRunner, detector.OnScript, detector.OnCriterion, detector.OnData}

// parts are the changed files by what they are for. The product code, with the tests, is "".
type parts map[detector.RelianceKind][]string

// classifier determines the parts of a change.
type classifier struct {
	product       []string        // patterns of files that are product code whatever they look like
	files         []snapshot.File // of the base
	read          func(id snapshot.ID, path string) ([]byte, error)
	base, current snapshot.ID
	evidence      ledger.Evidence
	sources       map[string][]byte // texts of source files, by path
	criterion     map[string]bool   // the files that the command of the criterion runs or reads
	checks        []string          // the commands of the checks
	asked         map[string]bool   // new files that the command names: the task is to make them
	hasSources    bool              // otherwise data or configuration is the product
	scriptsOnly   bool              // the product is scripts
}

// split sorts the changed files of a trial.
func (t Trial) split(ctx context.Context) (parts, error) {
	files, err := t.Store.Files(t.Base)
	if err != nil {
		return nil, err
	}
	c := classifier{product: t.Product, files: files, base: t.Base, current: t.Current, evidence: t.Evidence}
	for _, check := range t.Plan.Checks {
		c.checks = append(c.checks, check.CommandLine())
	}
	c.read = func(id snapshot.ID, path string) ([]byte, error) { return t.Store.ReadFile(ctx, id, path) }
	c.readSources(t.Changes)
	if t.Criterion != nil {
		c.readCriterion(t.Criterion.Command, t.Changes)
	}
	ignored, err := treecopy.IgnoredFiles(ctx, t.Root)
	if err != nil {
		ignored = nil // without a repository nothing is
	}
	out := parts{}
	for _, change := range t.Changes {
		if slices.ContainsFunc(ignored, func(name string) bool { return treecopy.IsBelow(change.Path, name) }) {
			continue // it is outside the change
		}
		kind := c.kindOf(change.Path)
		out[kind] = append(out[kind], change.Path)
	}
	return out, ctx.Err()
}

// The limits of what is read to find out which file names which.
const (
	maxSources = 3000
	maxText    = 256 << 10
)

// readSources reads the source files of the base, and the current versions of changed ones.
func (c *classifier) readSources(changes []snapshot.Change) {
	c.sources, c.scriptsOnly = map[string][]byte{}, true
	add := func(id snapshot.ID, name string) {
		if text, err := c.read(id, name); err == nil && len(text) <= maxText {
			c.sources[name] = append(c.sources[name], text...)
		}
	}
	for _, f := range c.files {
		if !isSource(f.Path) || source.IsVendored(f.Path) || f.Size > maxText {
			continue
		}
		if !integrity.BelongsToTests(f.Path) && !c.isCheck(f.Path) {
			c.hasSources, c.scriptsOnly = true, c.scriptsOnly && isScript(f.Path)
		}
		if len(c.sources) < maxSources {
			add(c.base, f.Path)
		}
	}
	for _, change := range changes {
		if change.Kind != snapshot.Deleted && isSource(change.Path) {
			add(c.current, change.Path)
		}
	}
}

// isCheck reports whether the command of a check names a file. It is no product code then.
func (c *classifier) isCheck(name string) bool {
	return slices.ContainsFunc(c.checks, func(command string) bool { return namesFile(command, name) })
}

// isSource reports whether a file is code in a known language.
func isSource(name string) bool { return source.DetectLanguage(name, nil) != source.Unknown }

// readCriterion finds the files that the command names, and those that only they use. What the
// product uses as well is product code, and so is the only code that they use.
func (c *classifier) readCriterion(command string, changes []snapshot.Change) {
	c.criterion, c.asked = map[string]bool{}, map[string]bool{}
	texts := map[string][]byte{}
	read := func(name string) {
		c.criterion[name] = true
		texts[name], _ = c.read(c.base, name) // a new file has no text there
	}
	for _, f := range c.files {
		if namesFile(command, f.Path) {
			read(f.Path)
		}
	}
	for _, change := range changes {
		c.asked[change.Path] = change.Kind == snapshot.Added && namesFile(command, change.Path)
	}
	for range changes { // each round may lead to one more
		for _, change := range changes {
			if name := change.Path; !c.criterion[name] && usedBy(texts, name) && !c.isProduct(name) && (isBesides(texts, name) || c.usesOthers(texts, name)) {
				read(name)
			}
		}
	}
}

// namesFile reports whether a shell command names a file: by its path, as a module of Python, or as a
// file of a folder that it runs, as in "go run ./accept".
func namesFile(command, file string) bool {
	module := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(file, ".py"), "/__main__"), "/", ".")
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>='\"`$", r) })
	for i, word := range words {
		runsFolder := i > 0 && slices.Contains(folderRunners, words[i-1]) && path.Clean(word) != "."
		if path.Clean(word) == file || runsFolder && path.Dir(file) == path.Clean(word) || file != module && word == module {
			return true
		}
	}
	return false
}

// folderRunners are the words before a folder that is run as a program.
var folderRunners = strings.Fields("run python python3 node ruby bun deno")

// isBesides reports whether a file is in the folder of one of the texts, or below it. In the top folder
// any file would be.
func isBesides(texts map[string][]byte, file string) bool {
	for user := range texts {
		if dir := path.Dir(user); dir != "." && strings.HasPrefix(file, dir+"/") {
			return true
		}
	}
	return false
}

// usedBy reports whether one of the texts names a file, or runs it as a script does.
func usedBy(texts map[string][]byte, file string) bool {
	for user, text := range texts {
		if evidence.Mentions(user, text, file) || isScript(user) && namesFile(string(text), file) {
			return true
		}
	}
	return false
}

// isProduct reports whether product code, or for source files a test, uses a file.
func (c *classifier) isProduct(file string) bool {
	for user, text := range c.sources {
		if user != file && !c.criterion[user] && (isSource(file) || !integrity.BelongsToTests(user)) && evidence.Mentions(user, text, file) {
			return true
		}
	}
	return false
}

// usesOthers reports whether the files of the criterion use product code other than file.
func (c *classifier) usesOthers(texts map[string][]byte, file string) bool {
	if !isSource(file) {
		return true
	}
	all := map[string][]byte{file: c.sources[file]}
	for user, text := range texts {
		all[user] = text
	}
	for name := range c.sources {
		if name != file && !c.criterion[name] && !integrity.BelongsToTests(name) && usedBy(all, name) {
			return true
		}
	}
	return false
}

// lockRE matches files that list the packages of a project and nothing else.
var lockRE = regexp.MustCompile(`(^|/)(go\.(sum|work\.sum)|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|Cargo\.lock|poetry\.lock|uv\.lock|pdm\.lock|Pipfile(\.lock)?|requirements[\w.-]*\.txt|Gemfile(\.lock)?|composer\.lock|mix\.lock|Package\.resolved|packages\.lock\.json|gradle\.lockfile)$`)

// manifestRE matches the files in which a project declares its packages.
var manifestRE = regexp.MustCompile(`(^|/)(package\.json|go\.mod|Cargo\.toml|pyproject\.toml|setup\.(cfg|py)|composer\.json|mix\.exs|[\w.-]+\.gemspec)$`)

// onlyPackagesChanged reports whether a manifest changed only in the packages that it names.
func (c *classifier) onlyPackagesChanged(name string) bool {
	before, err := c.read(c.base, name)
	after, fault := c.read(c.current, name)
	return err == nil && fault == nil && integrity.OnlyPackagesChanged(name, before, after)
}

// kindOf returns what a changed file is for, "" for product code and tests.
func (c *classifier) kindOf(name string) detector.RelianceKind {
	role := integrity.RoleOf(name)
	switch {
	case c.asked[name]:
		return ""
	case c.criterion[name]:
		return detector.OnCriterion
	case slices.ContainsFunc(c.product, func(glob string) bool { return doublestar.MatchUnvalidated(glob, name) }):
		return ""
	case lockRE.MatchString(name), manifestRE.MatchString(name) && c.onlyPackagesChanged(name):
		return detector.OnManifest
	case slices.Contains(c.evidence.TestFiles, name):
		return ""
	case slices.Contains(c.evidence.RunnerFiles, name), role == integrity.RunnerConfig:
		return detector.OnRunner
	case role == integrity.MixedConfig, isBuildFile(name):
		return detector.OnBuild
	case isScript(name) && (!c.scriptsOnly || c.isCheck(name)):
		return detector.OnScript
	case strings.HasSuffix(name, ".pyi"), strings.HasSuffix(name, ".d.ts"): // they change what checkers of types believe, not what runs
		return detector.OnData
	case isSource(name), templateRE.MatchString(name), !c.hasSources:
		return ""
	case c.isProduct(name):
		return ""
	}
	return detector.OnData
}

// templateRE matches code in languages that have no tests of their own.
var templateRE = regexp.MustCompile(`(?i)\.(html?|s?css|sass|less|sql|proto|graphqls?|gql|vue|svelte|astro|tmpl|tpl|j2|jinja2?|erb|haml|slim|ejs|hbs|mustache|pug|liquid|twig|blade\.php|xaml|qml|ipynb|wat|asm|s)$`)

// isBuildFile reports whether a file configures how the project is built, and is not a mixed one.
func isBuildFile(name string) bool {
	return strings.HasSuffix(name, ".cmake") || strings.HasSuffix(name, ".mk") || path.Base(name) == "build.rs" || path.Base(name) == "go.work" || strings.HasPrefix(path.Base(name), "tsconfig") && !isSource(name)
}

// isScript reports whether a file is a script of a shell.
func isScript(name string) bool { return scriptRE.MatchString(name) }

var scriptRE = regexp.MustCompile(`\.(sh|bash|zsh|fish|ksh|bats|ps1|cmd|bat)$`)
