package framework

// rust are the rows of the frameworks of Rust. [Framework] explains the fields of a row, and
// [Options] the notation of the options.
var rust = []Framework{
	{
		Name: "cargo", Language: "rust", Programs: []string{"cargo test", "cargo t", "cargo miri", "cargo tarpaulin", "cargo llvm-cov"}, ConfigFiles: split("Cargo.toml"), Operands: Names,
		Options: Options{
			Focus:   "-p= --package= --test= --doc --example= --bin= --ignored --exact --test-only -E= --filterset= --filter-expr= --focus=",
			Exclude: "--skip= --exclude= --lib --bins -x --exclude-should-panic", StopEarly: "--fail-fast",
			RunNone: "--no-run --list --bench --build-plan --unit-graph",
			Update:  "--force-update-snapshots --update-goldens --update-golden",
			Loosen:  "--retries= --test-timeout=", Mask: "--ignore-run-fail --no-fail",
			HideCode: "--no-cov --exclude-files= --omit= --ignore-filename-regex= --exclude-from-report= --exclude-from-test= --ignore-panics --ignore-tests",
			Config:   "--config= --manifest-path= --no-default-features --cfg=",
			Neutral:  "-F= --features= -j= --jobs= --color= --message-format= --profile= --target= --target-dir= --test-threads= --format= --logfile= -Z= --shuffle-seed= --output-path= --output-dir= -o= --out=",
		},
		Rerun:    Rerun{Way: ByWords, Programs: split("cargo"), Words: cargoFilter},
		List:     List{Args: split("-- --list --format=terse"), Format: RustTerse},
		Report:   Output{Format: "cargo-test"},
		Coverage: Output{Format: "llvm-cov", Args: split("--ignore-run-fail --json --output-path={{report_dir}}/llvm-cov.json"), Files: split("{{report_dir}}/llvm-cov.json"), Needs: split("cargo-llvm-cov")},
		Mutants:  Environment, Marks: split("cfg(test)"),
		Unsupported: map[Capability]string{Affects: "by package only"},
	},
	{
		Name: "nextest", Language: "rust", Programs: []string{"cargo nextest run", "cargo nextest", "cargo-nextest nextest run", "cargo llvm-cov nextest"}, ConfigFiles: split(".config/nextest.toml"),
		Options: Options{
			Focus:   "-p= --package= -E= --filterset= --filter-expr= --test= --example= --bin= --partition= --run-ignored=only --ignored --exact --rerun=",
			Exclude: "--skip= --exclude= --lib --bins -x", StopEarly: "--fail-fast --ff --max-fail=",
			RunNone:  "list archive show-config self --no-run --list",
			Update:   "--update-goldens --update-golden",
			Loosen:   "--retries= --flaky-result=pass --test-timeout= --stress-count=",
			Mask:     "--no-tests=pass --no-tests=warn --ignore-run-fail",
			HideCode: "--no-cov --ignore-filename-regex= --exclude-from-report=",
			Config:   "--config-file= --tool-config-file= --ignore-default-filter --config= --manifest-path= --no-default-features -P= --profile=",
			Neutral:  "-F= --features= -j= --build-jobs= --test-threads= --color= --message-format= --cargo-profile= --target= --target-dir= --status-level= --final-status-level= --output-path=",
		},
		Rerun:    Rerun{Way: ByWords, Programs: split("nextest cargo-nextest"), Place: BeforeWord, Word: "--", Words: func(s Selection) []string { return []string{"-E", s.joinNames(" + ", nextestName)} }},
		List:     List{Args: split("--message-format=json"), Format: NextestList},
		Report:   Output{Format: "junit", Args: split("--profile=default --tool-config-file=supervise:{{report_dir}}/.nextest.toml"), Files: split("{{report_dir}}/nextest.xml")},
		Coverage: Output{Format: "llvm-cov", Args: split("--ignore-run-fail --json --output-path={{report_dir}}/llvm-cov.json"), Files: split("{{report_dir}}/llvm-cov.json"), Needs: split("cargo-llvm-cov")},
		Mutants:  Environment, Marks: split("NEXTEST NEXTEST_RUN_ID NEXTEST_EXECUTION_MODE cfg(test)"),
		Unsupported: map[Capability]string{Affects: "by package only: -E rdeps(…)"},
	},
}
