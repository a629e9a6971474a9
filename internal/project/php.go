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

// phpMarkers are files that make a folder a PHP project.
var phpMarkers = withWords([]string{"composer.json"}, phpunit.ConfigFiles...)

// phpSourcePattern matches the element of phpunit.xml that names the covered code: <source> or an
// older one. phpDriverPattern matches a package that measures coverage: ext-pcov.
var (
	phpSourcePattern = regexp.MustCompile(`<(source|coverage|filter|whitelist)\b`)
	phpDriverPattern = regexp.MustCompile(`ext-(pcov|xdebug)|phpunit-pcov`)
)

// proposePHP recognizes a project with tests for Pest or PHPUnit.
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

// phpTestCheck returns the check of the tests, with coverage if the project is set up for it. config
// is the text of phpunit.xml.
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

// findPHPProgram returns the path of a program in the project, else its name, which is on PATH.
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

// phpCommand returns the argv of a program. A file of the project runs through php, since it may
// not be executable.
func phpCommand(program string, words ...string) []string {
	if strings.ContainsAny(program, "/.") {
		return withWords([]string{"php", program}, words...)
	}
	return withWords([]string{program}, words...)
}

// readComposer returns the versions of the packages that composer.json requires, by name. It is
// nil if there is no valid composer.json.
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
