package project

import (
	"slices"
	"strings"

	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
	"supervise/internal/tomlfile"
)

// addRustFeatures adds the features with which all workflows test to the checks. It notes tests that
// need other ones.
func addRustFeatures(f projectfs.Folder, p *proposal) {
	words, several := workflowFeatures(f)
	if several != "" {
		p.note("%s tests with several sets of features: the default ones are tested; give --test-cmd for others", several)
	}
	if len(words) > 0 {
		p.addTool("cargo test "+strings.Join(words, " "), ".github/workflows")
	} else if missing := missingFeatures(f.TOML("Cargo.toml")); len(missing) > 0 {
		p.note("tests in Cargo.toml need the features %s, which are not default ones: cargo leaves these tests out; give --test-cmd with --features", strings.Join(missing, ","))
	}
	for i := range p.checks {
		c := &p.checks[i]
		c.Command, c.Inventory = withFeatures(c.Command, words), withFeatures(c.Inventory, words)
	}
}

// withFeatures returns a command of cargo with the words added after --workspace. A command without
// that option does not change.
func withFeatures(command, words []string) []string {
	at := slices.Index(command, "--workspace")
	if at < 0 {
		return command
	}
	return slices.Insert(slices.Clone(command), at+1, words...)
}

// workflowFeatures returns the options for features with which the workflows test everything:
// none if one command has none, --all-features if one command has that. If the commands differ or
// have variables, it returns none, and several names the workflow.
func workflowFeatures(f projectfs.Folder) (words []string, several string) {
	var sets [][]string
	for _, s := range workflowSteps(f) {
		args, ok := cargoTestOptions(s)
		if !ok {
			continue
		}
		own := featureOptions(args)
		if s.plain && len(own) == 0 {
			return nil, ""
		}
		if sets = append(sets, own); !s.plain || !slices.Equal(own, sets[0]) {
			several = s.file
		}
	}
	if every := []string{"--all-features"}; slices.ContainsFunc(sets, func(set []string) bool { return slices.Equal(set, every) }) {
		return every, ""
	}
	if several != "" || sets == nil {
		return nil, several
	}
	return sets[0], ""
}

// cargoTestOptions returns the options of a command that tests everything, with a stable toolchain
// and for the machine on which it runs. It is false for other commands.
func cargoTestOptions(s step) (args []string, ok bool) {
	line := strings.Join(s.words, " ") + " "
	start := cargoTestCommandPattern.FindString(line)
	if s.nightly || start == "" {
		return nil, false
	}
	line, _, _ = strings.Cut(line[len(start):], " -- ")
	args = strings.Fields(line)
	return args, !slices.ContainsFunc(args, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains(partialTestOptions, name)
	})
}

// cargoTestCommandPattern matches the start of a command that runs tests: "cargo +stable test ".
var cargoTestCommandPattern = regexp.MustCompile(`^cargo (?:\+stable )?(?:test|nextest run) `)

// featureOptions returns the options for features among the arguments of cargo, in the form
// --features=NAMES or --all-features.
func featureOptions(args []string) []string {
	var words []string
	for i, w := range args {
		name, value, inline := strings.Cut(w, "=")
		switch {
		case name == "--all-features":
			words = append(words, name)
		case name != "--features" && name != "-F":
		case inline:
			words = append(words, "--features="+value)
		case i+1 < len(args):
			words = append(words, "--features="+args[i+1])
		}
	}
	return words
}

// partialTestOptions are options of cargo for a part of the tests, for less than the default
// features, or for another machine.
var partialTestOptions = []string{
	"-p", "--package", "--exclude", "--manifest-path", "--lib", "--bin", "--bins", "--test", "--tests", "--doc", "--example", "--examples",
	"--bench", "--benches", "--no-default-features", "--no-run", "--target",
}

// missingFeatures returns the features that test targets require and that are not enabled by
// default, directly or through another feature.
func missingFeatures(manifest tomlfile.Document) []string {
	features, _ := manifest.Table("features")
	tests, _ := manifest.Table("test")
	on := map[string]bool{}
	var enable func(name string)
	enable = func(name string) {
		if !on[name] {
			on[name] = true
			for _, next := range features.Strings(name) {
				enable(next)
			}
		}
	}
	enable("default")
	var missing []string
	for _, name := range tests.Strings("required-features") {
		if !on[name] {
			missing = append(missing, name)
		}
	}
	return projectfs.Unique(missing)
}
