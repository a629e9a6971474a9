package project

import (
	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

var mix = framework.Named("mix")

// junitFormatterPattern matches the dependency {:junit_formatter, "~> 3.3"} in a mix.exs.
var junitFormatterPattern = regexp.MustCompile(`(?m)^[^#\n]*:junit_formatter\b`)

// proposeElixir recognizes a Mix project, with the applications of an umbrella.
func proposeElixir(f projectfs.Folder) proposal {
	p := proposal{covers: coversEverything}
	p.require(f, "mix", "install Elixir")
	env := []string{"MIX_ENV=test"}
	p.addTool("mix", "mix.exs")
	p.add(Check{Kind: Build, Name: "mix compile", Command: []string{"mix", "compile"}, Env: env, Stderr: true})
	test := Check{Command: []string{"mix", "test", "--trace", "--no-color"}}
	if file := f.FirstMatching(junitFormatterPattern, append([]string{"mix.exs"}, f.Glob("apps/*/mix.exs")...)...); file != "" {
		p.addTool("junit_formatter", file)
		test = rowCheck(mix, "mix", "test")
	}
	test.Kind, test.Name, test.Runner, test.Env = Test, "mix test", mix.Name, env
	if f.First("deps") == "" && regexp.MustCompile(`(?m)^\s*\{:\w+,`).MatchString(f.Read("mix.exs")) {
		p.note("the dependencies in mix.exs are not there: run mix deps.get")
	}
	p.add(test)
	return p
}
