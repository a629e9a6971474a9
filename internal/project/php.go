package project

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

var (
	phpunit = framework.Named("phpunit")
	phpstan = framework.LinterNamed("phpstan")
)

var phpMarkers = withWords([]string{"composer.json"}, phpunit.ConfigFiles...)

var (
	phpSourcePattern = regexp.MustCompile(`<(source|coverage|filter|whitelist)\b`)
	phpDriverPattern = regexp.MustCompile(`ext-(pcov|xdebug)|phpunit-pcov`)
)

func proposePHP(f projectfs.Folder) proposal {
	var p proposal
	p.require(f, "php", "install PHP")
	packages := readComposer(f)
	config := f.First(phpunit.ConfigFiles...)
	if f.First("vendor") == "" && len(packages) > 0 {
		p.note("the packages in composer.json are not installed (vendor is not there): run composer install")
	}
	program, name := findPHPProgram(f, phpunit.Name), phpunit.Name
	switch {
	case f.First("vendor/bin/pest") != "" || packages["pestphp/pest"] != "":
		program, name = findPHPProgram(f, "pest"), "pest"
		p.addTool(name, "composer.json")
	case slices.ContainsFunc(phpunit.Packages, func(name string) bool { return packages[name] != "" }):
		p.addTool(name, "composer.json")
	case config != "":
		p.addTool(name, config)
	default:
		return proposal{}
	}
	p.add(phpTestCheck(f, &p, name, program, f.Read(config)))
	if neon := f.First(phpstan.ConfigFiles...); neon != "" {
		p.addTool(phpstan.Name, neon)
		p.add(Check{
			Kind: Lint, Name: phpstan.Name,
			Command: phpCommand(findPHPProgram(f, phpstan.Name), "analyse", "--error-format=json", "--no-progress", "--no-interaction", "--no-ansi", "--memory-limit=-1"),
		})
	}

	return p
}

func phpTestCheck(f projectfs.Folder, p *proposal, name, program, config string) Check {
	c := rowCheck(phpunit, phpCommand(program)...)
	c.Name = name
	switch {
	case !phpSourcePattern.MatchString(config):
		p.note("no coverage: say in phpunit.xml, with <source>, which folders hold the code")
	case f.FirstMatching(phpDriverPattern, "composer.json", "composer.lock") == "":
		p.note("no coverage: install the extension pcov or xdebug, and add ext-pcov or ext-xdebug to require-dev of composer.json")
	default:
		c.cover(phpunit)
	}
	return c
}

// findPHPProgram is the program of the project, else the one on PATH.
func findPHPProgram(f projectfs.Folder, name string) string {
	for _, own := range []string{"vendor/bin/" + name, "bin/" + name, "tools/" + name, name + ".phar", "tools/" + name + ".phar"} {
		if f.First(own) != "" {
			return own
		}
	}
	if f.First("composer.json") != "" && !f.OnPath(name) {
		return "vendor/bin/" + name
	}
	return name
}

// phpCommand runs a program by php if it is a file of the project, as it may not be executable.
func phpCommand(program string, words ...string) []string {
	if strings.ContainsAny(program, "/.") {
		return withWords([]string{"php", program}, words...)
	}
	return withWords([]string{program}, words...)
}

func readComposer(f projectfs.Folder) map[string]string {
	var composer struct {
		Require    map[string]string `json:"require"`
		RequireDev map[string]string `json:"require-dev"`
	}
	if json.Unmarshal([]byte(f.Read("composer.json")), &composer) != nil {
		return nil
	}
	packages := map[string]string{}
	maps.Copy(packages, composer.RequireDev)
	maps.Copy(packages, composer.Require)
	delete(packages, "php")
	return packages
}
