module supervise/bench

go 1.26.0

require (
	github.com/goccy/go-yaml v1.19.2
	github.com/joshdk/go-junit v1.0.0
	gotest.tools/gotestsum v1.13.0
	supervise v0.0.0
)

require (
	github.com/pelletier/go-toml/v2 v2.4.3 // indirect
	mvdan.cc/sh/v3 v3.14.1 // indirect
)

require (
	github.com/bitfield/gotestdox v0.2.2 // indirect
	github.com/bmatcuk/doublestar/v4 v4.10.4 // indirect
	github.com/creack/pty v1.1.24 // indirect
	github.com/fatih/color v1.18.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/jstemmer/go-junit-report/v2 v2.1.0 // indirect
	github.com/mattn/go-colorable v0.1.13 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/reviewdog/errorformat v0.0.0-20260721110140-13bff69235f3
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/text v0.17.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace supervise => ../
