package project

import (
	"supervise/internal/project/internal/checkout"
	"supervise/internal/regexp"
)

var junitFormatter = regexp.MustCompile(`(?m)^[^#\n]*:junit_formatter\b`)

// proposeElixir recognises a Mix project, with the applications of an umbrella.
func proposeElixir(f checkout.Folder) proposal {
	p := proposal{covers: everything}
	if !f.OnPath("mix") {
		p.note("mix is not on PATH: install Elixir")
	}
	env := []string{"MIX_ENV=test"}
	p.tool("mix", "mix.exs")
	p.add(Check{Kind: Build, Name: "mix compile", Command: []string{"mix", "compile"}, Env: env, Stderr: true})
	test := Check{Kind: Test, Name: "mix test", Runner: "mix", Env: env, Command: []string{"mix", "test", "--trace", "--no-color"}}
	if file := f.FirstMatching(junitFormatter, append([]string{"mix.exs"}, f.Glob("apps/*/mix.exs")...)...); file != "" {
		p.tool("junit_formatter", file)
		test.Command = []string{"mix", "test", "--no-color", "--formatter", "JUnitFormatter", "--formatter", "ExUnit.CLIFormatter"}
		test.Reports = []string{"_build/test/lib/*/*.xml"}
	}
	if f.First("deps") == "" && regexp.MustCompile(`(?m)^\s*\{:\w+,`).MatchString(f.Read("mix.exs")) {
		p.note("the dependencies in mix.exs are not there: run mix deps.get")
	}
	p.add(test)
	return p
}
