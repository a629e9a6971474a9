package framework

// others are the rows of the frameworks of other languages, and of those for any language.
// [Framework] explains the fields of a row, and [Options] the notation of the options.
var others = []Framework{
	{
		Name: "mix", Language: "elixir", Programs: []string{"mix test", "mix coveralls", "mix espec"}, ConfigFiles: split("mix.exs"),
		Options: Options{
			Focus:   "--only= --failed --stale --partitions= -n= --name-pattern=",
			Exclude: "--exclude= --skip=", StopEarly: "--max-failures=", RunNone: "--dry-run list",
			Loosen: "--timeout=", Mask: "--exit-status=0", Config: "--no-compile --import=",
			Neutral: "--include= --seed= --formatter= --slowest= --max-cases= --repeat-until-failure= --export-coverage= --profile-require=",
			Update:  none, HideCode: none,
		},
		Report:   Output{Format: "junit", Args: split("--no-color --formatter JUnitFormatter --formatter ExUnit.CLIFormatter"), Files: split("_build/test/lib/*/*.xml"), Needs: split("junit_formatter")},
		Affected: Affected{Files: "--stale"}, Mutants: Environment, Marks: split("MIX_ENV ExUnit"),
		Unsupported: map[Capability]string{Reruns: "runs tests by file and line, which its output lacks", Lists: "lists no tests", Covers: "its report is not read"},
	},
	{
		Name: "swift", Language: "swift", Programs: []string{"swift test"}, ConfigFiles: split("Package.swift"),
		Options: Options{
			Focus:   "--filter= -s= --specifier= --test-product= -f= --search=",
			Exclude: "--skip= --disable-xctest --disable-swift-testing", RunNone: "list last -l --list-tests",
			HideCode: "--disable-code-coverage", Config: "--package-path= -c= --configuration= --skip-build",
			StopEarly: none, Update: none, Loosen: none, Mask: none,
		},
	},
	{
		Name: "xcodebuild", Language: "swift", Programs: []string{"xcodebuild test", "xcodebuild test-without-building"},
		Options: Options{
			Focus:   "-only-testing: -only-test-configuration= --filter=",
			Exclude: "-skip-testing: -skip-test-configuration=", RunNone: "-enumerate-tests -dry-run",
			Loosen:   "-retry-tests-on-failure -test-iterations= -maximum-test-execution-time-allowance= -default-test-execution-time-allowance=",
			HideCode: "-enableCodeCoverage=NO", Config: "-testPlan= -xctestrun= -xcconfig= -scheme=",
			Neutral:   "-destination= -workspace= -project= -derivedDataPath= -resultBundlePath= -sdk= -configuration=",
			StopEarly: none, Update: none, Mask: none,
		},
	},
	{
		Name: "xctest", Language: "swift", Programs: []string{"xctest"},
		Options: Options{
			Focus: "-XCTest=", Exclude: none, StopEarly: none, RunNone: none, Update: none, Loosen: none, Mask: none, HideCode: none, Config: none,
		},
	},
	{
		Name: "zig", Language: "zig", Programs: []string{"zig test", "zig build test"}, ConfigFiles: split("build.zig"),
		Options: Options{
			Focus: "--test-filter= -Dtest-filter=", RunNone: "--test-no-exec -fno-emit-bin",
			Config:  "--test-runner= --test-cmd= --build-file=",
			Exclude: none, StopEarly: none, Update: none, Loosen: none, Mask: none, HideCode: none,
		},
	},
	{
		Name: "bazel", Language: "any", Programs: []string{"bazel test", "bazel coverage"}, ConfigFiles: split("MODULE.bazel WORKSPACE"),
		Options: Options{
			Focus:     "--test_filter= --test_arg=--focus*",
			Exclude:   "--test_tag_filters= --test_size_filters= --test_timeout_filters= --test_lang_filters= --build_tests_only",
			StopEarly: "--test_runner_fail_fast --notest_keep_going --test_keep_going=false",
			RunNone:   "--nobuild --check_tests_up_to_date", Loosen: "--flaky_test_attempts= --test_timeout=",
			HideCode: "--instrumentation_filter=", Config: "--config= --bazelrc= --run_under= --test_env=",
			Neutral: "-c= --compilation_mode= --jobs= --test_output= --runs_per_test=",
			Update:  none, Mask: none,
		},
	},
	{
		Name: "bats", Language: "shell", Programs: []string{"bats"}, Style: Bundled,
		Options: Options{
			Focus:   "-f= --filter= --filter-tags= --filter-status= --search=",
			Exclude: "--negative-filter= --skip= --exclude=", StopEarly: "--abort", RunNone: "-c --count",
			Config:  "--setup-suite-file=",
			Neutral: "-F= --formatter= --report-formatter= -o= --output= -j= --jobs= --gather-test-outputs-in= --code-quote-style=",
			Update:  none, Loosen: none, Mask: none, HideCode: none,
		},
		Placeholders: []Placeholder{{Name: `^setup_file failed$`}},
	},
	{
		Name: "shellspec", Language: "shell", Programs: []string{"shellspec"}, ConfigFiles: split(".shellspec"), Style: Bundled,
		Options: Options{
			Focus:   "-E= --example= -T= --tag= --only-failures -n --next-failure -r --repair -F --focus",
			Exclude: "-P= --pattern= --default-path=", StopEarly: "--fail-fast[=]",
			RunNone:  "--dry-run --count --list= --syntax-check --no-exec --translate",
			Mask:     "--failure-exit-code=0 --no-fail-no-examples --no-fail-low-coverage --warning-as-failure=no",
			HideCode: "--no-kcov", Config: "-O= --options= -s= --shell= --require= --env-from=",
			Neutral: "-f= --format= -o= --output= -j= --jobs= --kcov-options= --random=",
			Update:  none, Loosen: none,
		},
	},
	{
		Name: "prove", Language: "perl", Programs: []string{"prove"}, Style: Bundled,
		Options: Options{
			Focus: "--state=", RunNone: "-D --dry", Mask: "--ignore-exit",
			Config:  "--rc= --norc -I= -M= -P= -e= --exec=",
			Neutral: "-j= --jobs= --formatter= --source= -a= --archive= --harness= --ext=",
			Exclude: none, StopEarly: none, Update: none, Loosen: none, HideCode: none,
		},
	},
}

// notMeasured is the reason for all that a framework lacks whose results are not measured. Such a
// row is there because of its calls: options that narrow a run are found, but the framework is not
// detected.
const notMeasured = "only its calls are known"

// commonOptions are options that mean the same for any program that runs tests. Nothing else is
// known about the options of an unknown program.
var commonOptions = Options{
	Focus:   "--gtest_filter= --test-case= --test-suite= --run_test=",
	RunNone: "--collect-only --co --setup-plan --listTests --list-tests --showConfig --dry-run --no-run --version --help --skip-tests --print-config",
	Update:  "-u --updateSnapshot --update-snapshots --snapshot-update --update-goldens --update-golden -update --test-update-snapshots --force-regen --regen-all",
	Loosen:  "--reruns= --retries= --retry= --flaky --testTimeout= --test-timeout= --rerun-fails --max-runs= --only-rerun=",
	Mask: "--passWithNoTests --pass-with-no-tests --exit-zero --no-fail --fail-never --issues-exit-code=0 --failure-exit-code=0 --suppress-tests-exit-code --warn-only --allow-no-tests " +
		"--no-exit-code --exit-code=0 --force-success --nofail --suppress-no-test-exit-code --fail-on-error=false --fail-on-violations=false --exit-status=0 --no-tests=pass",
}

// common is the index of [commonOptions].
var common = commonOptions.index(Plain)
