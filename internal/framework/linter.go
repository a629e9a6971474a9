package framework

// Linter is a program that checks code without running it: for style, faults, types or formatting.
// The fields that [Framework] has, too, mean the same.
type Linter struct {
	Name        string
	Language    string
	Programs    []string // as in [Framework]
	Packages    []string // names of dependencies; a project that has one of them uses the linter
	ConfigFiles []string // patterns of its configuration files

	Style   Style
	Options Options // Allow turns rules off; Config and the like as in tests

	// Verdict are options, written as in [Options], that change how findings are written, fixed or
	// cached, but not the findings themselves. A measurement removes them from the project's own
	// call.
	Verdict string

	index index
}

// LinterNamed returns the row with the name, nil if there is none.
func LinterNamed(name string) *Linter {
	for i := range linters {
		if linters[i].Name == name {
			return &linters[i]
		}
	}
	return nil
}

// commonAllow are the options by which most linters turn rules off.
const commonAllow = "--disable= --ignore= --extend-ignore= --ignore-errors= --except= --rule= --quiet --exclude= --skip= --severity="

// linters are the rows of the linters. Their options are those of eslint 9, biome 2, stylelint 17,
// ruff 0.14, flake8 7, pylint 4, mypy 1, golangci-lint 2, clippy of Rust 1.9x, rubocop 1, phpstan 2
// and shellcheck 0.11. The last row has the programs of which only the common options are known.
var linters = indexLinters([]Linter{
	{
		Name: "eslint", Language: "node", Programs: []string{"eslint"}, Packages: split("eslint"), ConfigFiles: split("eslint.config.* .eslintrc .eslintrc.*"),
		Options: Options{
			Allow:  commonAllow + " --no-eslintrc --ignore-pattern= --no-inline-config --pass-on-unpruned-suppressions --suppress-all --suppress-rule= --no-error-on-unmatched-pattern --pass-on-no-patterns",
			Mask:   "--exit-zero",
			Config: "-c= --config= --no-config-lookup --plugin= --rulesdir= --parser-options= --ignore-path= --env=",
		},
		Verdict: "--fix --fix-dry-run --fix-type= --max-warnings= --cache --cache-location= --cache-strategy= -f= --format= -o= --output-file= --color --no-color --debug --stats",
	},
	{
		Name: "biome", Language: "node", Programs: []string{"biome check", "biome lint", "biome ci", "biome format"}, Packages: split("@biomejs/biome"), ConfigFiles: split("biome.json biome.jsonc .biome.json .biome.jsonc"),
		Options: Options{
			Allow:  "--skip= --diagnostic-level= --formatter-enabled=false --linter-enabled=false --assist-enabled=false --only= --suppress --no-errors-on-unmatched",
			Config: "--config-path= --vcs-enabled=", Mask: none,
		},
		Verdict: "--write --apply --fix --unsafe --apply-unsafe --reporter= --max-diagnostics= --colors= --error-on-warnings --staged --changed",
	},
	{
		Name: "stylelint", Language: "node", Programs: []string{"stylelint"}, Packages: split("stylelint"), ConfigFiles: split(".stylelintrc .stylelintrc.* stylelint.config.*"),
		Options: Options{
			Allow:  commonAllow + " --ignore-pattern= --ip= --ignore-disables --id --allow-empty-input --aei",
			Config: "--config= -c= --ignore-path= -i= --config-basedir=", Mask: none,
		},
		Verdict: "--fix --max-warnings= --mw= --cache --cache-location= -f= --formatter= -o= --output-file= --color --no-color",
	},
	{
		Name: "tsc", Language: "node", Programs: []string{"tsc", "vue-tsc"}, Packages: split("typescript"), ConfigFiles: split("tsconfig.json"),
		Options: Options{
			Allow:  commonAllow + " --noCheck --skipLibCheck --strict=false --noImplicitAny=false --strictNullChecks=false --suppressImplicitAnyIndexErrors --ignoreDeprecations=",
			Config: "-p= --project= --types= --lib=",
		},
		Verdict: "--watch -w --pretty --preserveWatchOutput",
	},
	{
		Name: "deno lint", Language: "node", Programs: []string{"deno lint", "deno fmt"}, ConfigFiles: split("deno.json deno.jsonc"),
		Options: Options{Allow: "--rules-exclude= --ignore= --rules-tags= --permit-no-files", Config: "-c= --config= --no-config --rules-include=", Mask: none},
		Verdict: "--json --compact --fix --watch",
	},
	{
		Name: "deno check", Language: "node", Programs: []string{"deno check"}, ConfigFiles: split("deno.json deno.jsonc"),
		Options: Options{Allow: "--no-check[=]", Config: "-c= --config= --no-config --import-map=", Mask: none},
		Verdict: "--watch --quiet -q",
	},
	{
		Name: "ruff", Language: "python", Programs: []string{"ruff check", "ruff format", "ruff"}, Packages: split("ruff"), ConfigFiles: split("ruff.toml .ruff.toml pyproject.toml#tool.ruff"),
		Options: Options{
			Allow: commonAllow + " --per-file-ignores= --extend-exclude= --extend-per-file-ignores= --select= --unfixable=",
			Mask:  "--exit-zero", Config: "--config= --isolated --target-version=",
		},
		Verdict: "--fix --unsafe-fixes --no-fix --no-cache --cache-dir= --output-format= -o= --output-file= --watch --show-fixes --statistics -q",
	},
	{
		Name: "flake8", Language: "python", Programs: []string{"flake8"}, Packages: split("flake8"), ConfigFiles: split(".flake8 setup.cfg#flake8 tox.ini#flake8"),
		Options: Options{
			Allow:  commonAllow + " --per-file-ignores= --extend-exclude= --select= --disable-noqa",
			Mask:   "--exit-zero",
			Config: "--config= --append-config= --isolated --max-line-length= --max-complexity=",
		},
		Verdict: "--format= --color= --output-file= --tee --statistics --count --benchmark -j= --jobs=",
	},
	{
		Name: "pylint", Language: "python", Programs: []string{"pylint"}, Packages: split("pylint"), ConfigFiles: split(".pylintrc pylintrc .pylintrc.toml pylintrc.toml pyproject.toml#tool.pylint"),
		Options: Options{
			Allow: commonAllow + " -d= --ignore-patterns= --ignore-paths= -E --errors-only --disable-all",
			Mask:  "--exit-zero --fail-under=0", Config: "--rcfile= --load-plugins= --enable= --fail-on=",
		},
		Verdict: "--output-format= -f= --output= --recursive= -j= --jobs= --reports= --score=",
	},
	{
		Name: "mypy", Language: "python", Programs: []string{"mypy", "dmypy run"}, Packages: split("mypy"), ConfigFiles: split("mypy.ini .mypy.ini pyproject.toml#tool.mypy setup.cfg#mypy"),
		Options: Options{
			Allow:  commonAllow + " --ignore-missing-imports --disable-error-code= --follow-imports= --no-strict-optional --allow-untyped-defs --allow-untyped-calls --no-check-untyped-defs",
			Config: "--config-file= --python-version= --platform=", Mask: none,
		},
		Verdict: "--non-interactive --no-error-summary --show-column-numbers --hide-error-context --no-pretty --pretty --output= -O= --cache-dir= --no-incremental --color-output --no-color-output",
	},
	{
		Name: "pyright", Language: "python", Programs: []string{"pyright"}, Packages: split("pyright"), ConfigFiles: split("pyrightconfig.json pyproject.toml#tool.pyright"),
		Options: pyright, Verdict: pyrightVerdict,
	},
	{
		Name: "basedpyright", Language: "python", Programs: []string{"basedpyright"}, Packages: split("basedpyright"), ConfigFiles: split("pyproject.toml#tool.basedpyright"),
		Options: pyright, Verdict: pyrightVerdict,
	},
	{
		Name: "golangci-lint", Language: "go", Programs: []string{"golangci-lint run", "golangci-lint"}, Packages: split("github.com/golangci/golangci-lint"), ConfigFiles: split(".golangci.yml .golangci.yaml .golangci.toml .golangci.json"),
		Options: Options{
			Allow: commonAllow + " -D= --disable-all --fast --fast-only --skip-dirs= --skip-files= -e= --new --new-from-rev= --new-from-merge-base= --default=none --enable-only= --max-same-issues= --max-issues-per-linter= --tests=false",
			Mask:  "--issues-exit-code=0", Config: "-c= --config= --no-config --build-tags= -E= --enable=",
		},
		Verdict: "--out-format= --output.json.path= --output.text.path= --fix --concurrency= --timeout= --color= -v --verbose",
	},
	{
		Name: "go vet", Language: "go", Programs: []string{"go vet", "go tool"}, Style: OneDash,
		Options: Options{Allow: "-printf=false -copylocks=false -structtag=false", Config: "-vettool= -tags=", Mask: none},
		Verdict: "-json -c= -v -x",
	},
	{
		Name: "clippy", Language: "rust", Programs: []string{"cargo clippy", "cargo fmt", "cargo check", "cargo deny", "cargo audit", "cargo hack"}, ConfigFiles: split("clippy.toml .clippy.toml"),
		Options: Options{
			Allow: commonAllow + " -A= --allow= --cap-lints=", Config: "--config= --manifest-path=",
			Mask: none,
		},
		Verdict: "--message-format= --fix --allow-dirty --allow-staged --color= --keep-going",
	},
	{
		Name: "rubocop", Language: "ruby", Programs: []string{"rubocop", "standardrb", "rake rubocop", "rake lint"}, Packages: split("rubocop standard"), ConfigFiles: split(".rubocop.yml"),
		Options: Options{
			Allow:  commonAllow + " --fail-level= --only= --display-only-fail-level-offenses --disable-pending-cops",
			Mask:   "--fail-level=fatal",
			Config: "-c= --config= --force-default-config --auto-gen-config --force-exclusion",
		},
		Verdict: "-f= --format= -o= --out= --cache= --no-color --color -a -A --autocorrect --autocorrect-all -x --fix-layout",
	},
	{
		Name: "phpstan", Language: "php", Programs: []string{"phpstan", "composer phpstan", "composer stan"}, Packages: split("phpstan/phpstan"), ConfigFiles: split("phpstan.neon phpstan.neon.dist phpstan.dist.neon"),
		Options: Options{Allow: commonAllow + " -b= --generate-baseline= --allow-empty-baseline", Config: "-c= --configuration= -a= --autoload-file= -l= --level=", Mask: none},
		Verdict: "--error-format= --no-progress --no-interaction --no-ansi --memory-limit= --debug",
	},
	{
		Name: "shellcheck", Language: "shell", Programs: []string{"shellcheck"}, ConfigFiles: split(".shellcheckrc"),
		Options: Options{Allow: commonAllow + " -e= -S= -i= --include=", Config: "--rcfile= --norc -s= --shell=", Mask: none},
		Verdict: "-f= --format= -C --color[=] -W=",
	},
	{Name: "other linters", Programs: split("tslint tsd pyre pycodestyle pydocstyle bandit black isort ty xo standard ts-standard semistandard oxlint jshint " +
		"staticcheck golint revive errcheck gosec govulncheck brakeman sorbet srb reek psalm phpcs php-cs-fixer phpmd infection rector " +
		"detekt ktlint checkstyle spotbugs swiftlint clang-tidy clang-format cppcheck hadolint yamllint actionlint markdownlint codespell commitlint knip depcheck size-limit attw publint goveralls diff-cover stryker mutmut " +
		"prettier dmypy"), Options: Options{Allow: commonAllow, Mask: "--exit-zero --fail-never", Config: "-c= --config="}},
})

// pyright are the options of pyright and of basedpyright.
var pyright = Options{Allow: commonAllow + " --level= --skipunannotated --ignoreexternal", Config: "-p= --project= --pythonpath= --pythonversion=", Mask: none}

// pyrightVerdict are the options of both that do not change the findings.
const pyrightVerdict = "--outputjson --stats --verbose -w --watch"

// indexLinters fills in the option index of each row. It changes and returns rows.
func indexLinters(rows []Linter) []Linter {
	for i := range rows {
		rows[i].index = rows[i].Options.index(rows[i].Style)
	}
	return rows
}
