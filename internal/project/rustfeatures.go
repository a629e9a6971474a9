package project

import (
	"slices"
	"strings"
)

// rustFeatures adds to the checks the features that all workflows test with. It notes tests
// that need others.
func rustFeatures(f folder, p *proposal) {
	words, several := workflowFeatures(f)
	if several != "" {
		p.note("%s tests with several sets of features: the default ones are tested; give --test-cmd for others", several)
	}
	if len(words) > 0 {
		p.tool("cargo test "+strings.Join(words, " "), ".github/workflows")
	} else if missing := missingFeatures(f.read("Cargo.toml")); len(missing) > 0 {
		p.note("tests in Cargo.toml need the features %s, which are not default ones: cargo leaves these tests out; give --test-cmd with --features", strings.Join(missing, ","))
	}
	for i := range p.checks {
		c := &p.checks[i]
		c.Command, c.Inventory = featured(c.Command, words), featured(c.Inventory, words)
	}
}

func featured(command, words []string) []string {
	at := slices.Index(command, "--workspace")
	if at < 0 {
		return command
	}
	return slices.Insert(slices.Clone(command), at+1, words...)
}

// workflowFeatures are the options for features of the commands that test everything: none if
// one of them has none. several is a workflow whose commands differ, or are filled in.
func workflowFeatures(f folder) (words []string, several string) {
	all := false
	for _, s := range f.steps() {
		own, ok := cargoFeatures(s)
		switch {
		case !ok || all && s.plain && len(own) > 0:
		case s.plain && len(own) == 0:
			return nil, ""
		case s.plain && slices.Contains(own, "--all-features"):
			all, words = true, []string{"--all-features"}
		case !s.plain || words != nil && !slices.Equal(own, words):
			several = s.file
		default:
			words = own
		}
	}
	if several != "" && !all {
		return nil, several
	}
	return words, ""
}

// cargoFeatures are the options for features of a command by which a stable toolchain tests
// everything for the machine itself.
func cargoFeatures(s step) (words []string, ok bool) {
	args := s.words
	if s.nightly || args[0] != "cargo" {
		return nil, false
	}
	args = args[1:]
	if len(args) > 0 && strings.HasPrefix(args[0], "+stable") {
		args = args[1:]
	}
	if len(args) > 1 && args[0] == "nextest" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] != "test" && args[0] != "run" || args[0] == "run" && s.words[1] != "nextest" {
		return nil, false
	}
	for i := 1; i < len(args) && args[i] != "--"; i++ {
		name, value, inline := strings.Cut(args[i], "=")
		switch {
		case slices.Contains(cargoPart, name):
			return nil, false
		case name == "--all-features":
			words = append(words, name)
		case (name == "--features" || name == "-F") && !inline && i+1 < len(args):
			i++
			value = args[i]
			fallthrough
		case name == "--features" && value != "":
			words = append(words, "--features="+value)
		}
	}
	return words, true
}

// cargoPart are options of cargo with which a part of the tests runs, or less than the
// default features, or for another machine.
var cargoPart = []string{
	"-p", "--package", "--exclude", "--manifest-path", "--lib", "--bin", "--bins", "--test", "--tests", "--doc", "--example", "--examples",
	"--bench", "--benches", "--no-default-features", "--no-run", "--target",
}

// missingFeatures are those that targets with tests require and that are no default ones.
func missingFeatures(text string) []string {
	features, _ := tomlTable(text, "features")
	on := map[string]bool{}
	var enable func(name string)
	enable = func(name string) {
		if !on[name] {
			on[name] = true
			for _, next := range tomlStrings(features, name) {
				enable(next)
			}
		}
	}
	enable("default")
	var missing []string
	for _, block := range strings.Split(text, "[[test]]")[1:] {
		block, _, _ = strings.Cut(block, "\n[")
		for _, name := range tomlStrings(block, "required-features") {
			if !on[name] {
				missing = append(missing, name)
			}
		}
	}
	return unique(missing)
}
