package framework

var rust = []Framework{
	{
		Name: "cargo", Language: "rust", Programs: []string{"cargo test", "cargo t", "cargo miri", "cargo tarpaulin", "cargo llvm-cov"}, ConfigFiles: list("Cargo.toml"),
		Operands: Names,
		Options: Options{
			Focus:     "-p= --package= --test= --doc --example= --bin= --ignored --exact --test-only -E= --filterset= --filter-expr= --focus=",
			Exclude:   "--skip= --exclude= --lib --bins -x --exclude-should-panic",
			StopEarly: "--fail-fast",
			RunNone:   "--no-run --list --bench --build-plan --unit-graph",
			Update:    "--force-update-snapshots --update-goldens --update-golden",
			Loosen:    "--retries= --test-timeout=",
			Mask:      "--ignore-run-fail --no-fail",
			HideCode:  "--no-cov --exclude-files= --omit= --ignore-filename-regex= --exclude-from-report= --exclude-from-test= --ignore-panics --ignore-tests",
			Config:    "--config= --manifest-path= --no-default-features --cfg=",
			Neutral:   "-F= --features= -j= --jobs= --color= --message-format= --profile= --target= --target-dir= --test-threads= --format= --logfile= -Z= --shuffle-seed= --output-path= --output-dir= -o= --out=",
		},
		Rerun:    Rerun{Way: ByWords, Programs: list("cargo"), Words: cargoWords},
		List:     List{Args: list("-- --list --format=terse"), Format: RustTerse},
		Report:   Output{Format: "cargo-test"},
		Coverage: Output{Format: "llvm-cov", Args: list("--ignore-run-fail --json --output-path={{report_dir}}/llvm-cov.json"), Files: list("{{report_dir}}/llvm-cov.json"), Needs: list("cargo-llvm-cov")},
		Mutants:  Environment,
		Marks:    list("cfg(test)"),
		Unsupported: map[Capability]string{
			Conceals: notBuilt,
			Affects:  "by package only",
		},
	},
	{
		Name: "nextest", Language: "rust", Programs: []string{"cargo nextest run", "cargo nextest", "cargo-nextest nextest run", "cargo llvm-cov nextest"}, ConfigFiles: list(".config/nextest.toml"),
		Options: Options{
			Focus:     "-p= --package= -E= --filterset= --filter-expr= --test= --example= --bin= --partition= --run-ignored=only --ignored --exact --rerun=",
			Exclude:   "--skip= --exclude= --lib --bins -x",
			StopEarly: "--fail-fast --ff --max-fail=",
			RunNone:   "list archive show-config self --no-run --list",
			Update:    "--update-goldens --update-golden",
			Loosen:    "--retries= --flaky-result=pass --test-timeout= --stress-count=",
			Mask:      "--no-tests=pass --no-tests=warn --ignore-run-fail",
			HideCode:  "--no-cov --ignore-filename-regex= --exclude-from-report=",
			Config:    "--config-file= --tool-config-file= --ignore-default-filter --config= --manifest-path= --no-default-features -P= --profile=",
			Neutral:   "-F= --features= -j= --build-jobs= --test-threads= --color= --message-format= --cargo-profile= --target= --target-dir= --status-level= --final-status-level= --output-path=",
		},
		Rerun: Rerun{
			Way: ByWords, Programs: list("nextest cargo-nextest"), Place: BeforeWord, Word: "--",
			Words: func(s Selection) []string { return []string{"-E", s.joined(" + ", nextestName)} },
		},
		List:     List{Args: list("--message-format=json"), Format: NextestList},
		Report:   Output{Format: "junit", Args: list("--profile=default --tool-config-file=supervise:{{report_dir}}/.nextest.toml"), Files: list("{{report_dir}}/nextest.xml")},
		Coverage: Output{Format: "llvm-cov", Args: list("--ignore-run-fail --json --output-path={{report_dir}}/llvm-cov.json"), Files: list("{{report_dir}}/llvm-cov.json"), Needs: list("cargo-llvm-cov")},
		Mutants:  Environment,
		Marks:    list("NEXTEST NEXTEST_RUN_ID NEXTEST_EXECUTION_MODE cfg(test)"),
		Unsupported: map[Capability]string{
			Conceals: notBuilt,
			Affects:  "by package only: -E rdeps(…)",
		},
	},
}
