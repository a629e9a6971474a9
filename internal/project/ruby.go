package project

import (
	"cmp"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

var (
	rspec    = framework.Named("rspec")
	minitest = framework.Named("minitest")
)

// rubyMarkers are files that make a folder a Ruby project.
var rubyMarkers = []string{"Gemfile", "*.gemspec", ".rspec", "Rakefile"}

// ruby is a folder with Ruby in it.
type ruby struct {
	projectfs.Folder
	gemText string // the text of everything that lists gems
}

// proposeRuby recognizes a project with tests for RSpec, Minitest, or both.
func proposeRuby(f projectfs.Folder) proposal {
	p := proposal{lintsAll: true}
	r := ruby{Folder: f}
	for _, file := range append([]string{"Gemfile", "Gemfile.lock"}, f.Glob("*.gemspec")...) {
		r.gemText += f.Read(file) + "\n"
	}
	p.require(f, "ruby", "install Ruby")
	if f.OnPath("ruby") && f.First("Gemfile") != "" {
		p.require(f, "bundle", "gem install bundler, then run bundle install")
	}
	r.addRSpec(&p)
	r.addMinitest(&p)
	if !p.hasKind(Test) {
		return proposal{}
	}
	r.addRubocop(&p)
	return p
}

// command returns the argv that runs a program of the project's gems.
func (r ruby) command(words ...string) []string {
	if r.First("Gemfile") == "" {
		return words
	}
	return withWords([]string{"bundle", "exec"}, words...)
}

// requiresGem reports whether the project requires a gem: by gem "rspec" in its Gemfile, by
// add_development_dependency "rspec" in its gemspec, or by a line of its lock file.
func (r ruby) requiresGem(name string) bool {
	name = regexp.QuoteMeta(name)
	return regexp.MustCompile(`(?m)^[^#\n]*(gem|dependency)[\s(]+["']` + name + `["']|^\s+` + name + ` \(`).MatchString(r.gemText)
}

// addRSpec proposes RSpec if it is configured or required and there are specs.
func (r ruby) addRSpec(p *proposal) {
	config := r.First(rspec.ConfigFiles...)
	if config == "" && slices.ContainsFunc(rspec.Packages, r.requiresGem) && r.First("spec") != "" {
		config = "Gemfile"
	}
	if config == "" || len(r.Search(1, "*_spec.rb")) == 0 {
		return
	}
	p.addTool(rspec.Name, config)
	c := rowCheck(rspec, r.command(rspec.Name)...)
	c.Inventory = r.command(withWords([]string{rspec.Name}, rspec.List.Args...)...)
	p.add(r.withCoverage(p, rspec, c, "spec/spec_helper.rb", "spec/rails_helper.rb", ".rspec"))
}

// rakeTestPattern matches the definition of a test task: Rake::TestTask.new(:test).
var rakeTestPattern = regexp.MustCompile(`(?m)^[^#\n]*(Rake::TestTask|Minitest::TestTask)`)

// addMinitest proposes Minitest as the project runs it: by Rails, by its task, else file by file. A
// task may have files of Minitest::Spec with names like those of RSpec.
func (r ruby) addMinitest(p *proposal) {
	names, task := []string{"*_test.rb", "test_*.rb"}, r.FirstMatching(rakeTestPattern, "Rakefile", "rakefile")
	if task != "" && !p.hasKind(Test) {
		names = append(names, "*_spec.rb", "spec_*.rb")
	}
	files := r.Search(1, names...)
	if len(files) == 0 || r.First("test") == "" {
		return
	}
	c := Check{Kind: Test, Name: minitest.Name, Runner: minitest.Name}
	switch {
	case r.First("bin/rails") != "":
		p.addTool(minitest.Name, "bin/rails")
		c.Command = withWords([]string{"bin/rails", "test"}, minitest.Report.Args...)
	case task != "":
		p.addTool(minitest.Name, task)
		c.Command, c.Env = r.command("rake", "test"), []string{"TESTOPTS=--verbose", "A=--verbose"}
	default:
		p.addTool(minitest.Name, files[0])
		c.Command = r.command("ruby", "-Ilib", "-Itest", "-e", `Dir["./test/**/{test_*,*_test}.rb"].sort.each { |f| require f }`, "--", "--verbose")
	}
	p.add(r.withCoverage(p, minitest, c, "test/test_helper.rb", "test/helper.rb", "test/minitest_helper.rb"))
}

// simplecovStartPattern matches a line that starts SimpleCov: SimpleCov.start 'rails'.
var simplecovStartPattern = regexp.MustCompile(`(?m)^[^#\n]*(SimpleCov\.start|require ["']simplecov)`)

// withCoverage adds the report that SimpleCov writes into the tree, if one of the helpers starts it.
func (r ruby) withCoverage(p *proposal, row *framework.Framework, c Check, helpers ...string) Check {
	starts := r.FirstMatching(simplecovStartPattern, append(helpers, ".simplecov")...)
	if starts == "" {
		if !r.requiresGem("simplecov") {
			p.note("no coverage: add the gem simplecov, and start it in %s", helpers[0])
		}
		return c
	}
	p.addTool("SimpleCov", starts)
	c.cover(row)
	return c
}

// addRubocop proposes RuboCop if it is configured or required.
func (r ruby) addRubocop(p *proposal) {
	config := r.First(".rubocop.yml")
	if config == "" && !r.requiresGem("rubocop") && !r.requiresGem("standard") {
		return
	}
	config = cmp.Or(config, "Gemfile")
	if strings.TrimSpace(r.gemText) == "" && !r.OnPath("rubocop") {
		p.note("%s is there but rubocop is not on PATH: gem install rubocop", config)
		return
	}
	report := ReportDir + "/rubocop.json"
	words := []string{"rubocop", "--format=json", "--out=" + report, "--cache=false", "--no-color"}
	if r.gemText != "" && (r.requiresGem("rubocop") || r.requiresGem("standard")) {
		words = r.command(words...)
	}
	p.addTool("rubocop", config)
	p.add(Check{Kind: Lint, Name: "rubocop", Command: words, Reports: []string{report}})
}
