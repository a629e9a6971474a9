package framework

// python are the rows of the frameworks of Python. Their options are those of pytest 9 (with xdist,
// cov, rerunfailures and syrupy), unittest of Python 3.13, Django 5, nose2 0.15, Twisted 25, green
// 4, stestr 4 and ward 0.68. [Framework] explains the fields of a row, and [Options] the notation
// of the options.
var python = []Framework{
	{
		Name: "pytest", Language: "python", Programs: []string{"pytest", "py.test"}, Packages: split("pytest"),
		ConfigFiles: split("pytest.ini .pytest.ini pytest.toml .pytest.toml pyproject.toml#tool.pytest tox.ini#pytest setup.cfg#tool:pytest conftest.py tests/conftest.py test/conftest.py"), Style: Bundled,
		Options: Options{
			Focus:     "-k= --lf --last-failed --sw --stepwise --testmon --picked[=] --shard-id=",
			Exclude:   "-m= --ignore= --ignore-glob= --deselect= --noconftest -c= --config-file=",
			StopEarly: "-x --exitfirst --maxfail=",
			RunNone:   "--collect-only --co --setup-plan --setup-only --fixtures --funcargs --fixtures-per-test --markers --trace-config --cache-show[=] list",
			Update:    "--snapshot-update --update-snapshots --force-regen --regen-all --inline-snapshot=fix --inline-snapshot=create --inline-snapshot=update --update-goldens --update-golden",
			Loosen:    "--reruns= --force-reruns= --only-rerun= --rerun-except= --flaky --max-runs= --force-flaky --max-suite-reruns=",
			Mask:      "--suppress-no-test-exit-code --suppress-tests-failed-exit-code --last-failed-no-failures=none --lfnf=none",
			HideCode:  "--no-cov --cov-config= --no-cov-on-fail --omit=",
			Config:    "-c= --config-file= -o= --override-ini= --rootdir= --confcutdir= -p= --disable-plugin-autoload --import-mode= --assert=plain --cov-fail-under=",
			Neutral:   "-r= --report-chars= -n= --numprocesses= --dist= --tx= --tb= --color= --durations= --durations-min= --junit-xml= --junitxml= --junit-prefix= --cov= --cov-report= --basetemp= --log-level= --log-file= -W= --pythonwarnings= --reruns-delay= --timeout= --capture= --verbosity= --pdbcls= --doctest-glob=",
		},
		Keep:         split("-m= -k= -p= -W= --ignore= --ignore-glob= --deselect= --import-mode= --doctest-modules --doctest-glob= --pyargs"),
		Rerun:        Rerun{Way: ByPlugin, Variable: "PYTEST_PLUGINS"},
		List:         List{Args: split("--collect-only --verbosity=-1 --color=no -p no:cacheprovider"), Format: NodeIDs},
		Report:       Output{Format: "junit", Args: split("--junitxml={{report_dir}}/pytest.xml -o junit_family=xunit1 -o cache_dir={{report_dir}}/.cache --maxfail=0 --color=no"), Files: split("{{report_dir}}/pytest.xml")},
		Coverage:     Output{Format: "coverage.py", Args: split("--cov --cov-report=json:{{report_dir}}/coverage.json --cov-fail-under=0"), Env: split("COVERAGE_FILE={{report_dir}}/.coverage"), Files: split("{{report_dir}}/coverage.json"), Needs: split("pytest-cov coverage")},
		Shadows:      split("pytest _pytest pluggy xdist pytest_cov"),
		TestPackages: split("pytest _pytest pytest-* pluggy xdist"),
		Mutants:      Environment, Marks: split("PYTEST_CURRENT_TEST PYTEST_VERSION pytest _pytest"), Conceal: PythonPlugin,
		Placeholders: []Placeholder{{Message: `^collection failure`}, {Class: `^pytest$`, Name: `^internal$`, StopsRun: true}},
		Unsupported:  map[Capability]string{Affects: "by plugins only"},
	},
	{
		Name: "unittest", Language: "python", Programs: []string{"unittest"}, Style: Bundled, Operands: Modules,
		Options: Options{
			Focus: "-k= -p= --pattern=", Exclude: "--ignore= --ignore-glob= --deselect=",
			StopEarly: "-f --failfast", Update: "--update-snapshots --update-goldens --update-golden",
			Neutral: "-s= --start-directory= -t= --top-level-directory= --durations=",
			RunNone: none, Loosen: none, Mask: none, HideCode: none, Config: none,
		},
		Drop:     split("-v --verbose -q --quiet -f --failfast -b --buffer"),
		Rerun:    Rerun{Way: ByWords, Programs: split("unittest manage.py runtests.py django"), Words: func(s Selection) []string { return s.repeatOption("-k", unittestName) }},
		Report:   Output{Format: "unittest"},
		Coverage: Output{Format: "coverage.py", Env: split("COVERAGE_FILE={{report_dir}}/.coverage"), Files: split("{{report_dir}}/coverage.json"), Needs: split("coverage")},
		Shadows:  split("unittest doctest"), Mutants: Environment, Marks: split("unittest"),
		Placeholders: unittestPlaceholders,
		Unsupported:  map[Capability]string{Detect: "part of Python: test files that import it show its use", Lists: "lists no tests", Affects: "has no such option"},
	},
	{
		Name: "django", Like: "unittest", Programs: []string{"manage.py test", "django-admin test", "django test"}, ConfigFiles: split("manage.py"),
		Options: Options{
			Focus: "-k= --tag= -p= --pattern=", Exclude: "--exclude-tag=", StopEarly: "--failfast",
			Config:  "--settings= --testrunner= --pythonpath=",
			Neutral: "-v= --verbosity= --parallel= -t= --top-level-directory= --durations= --shuffle=",
		},
		Drop: split("-v= --verbosity= -v0 -v1 -v2 -v3 --no-input --noinput --failfast"),
	},
	{
		Name: "nose", Language: "python", Programs: []string{"nosetests", "nose", "nose2"}, Packages: split("nose nose2"), ConfigFiles: split("nose.cfg .noserc nose2.cfg unittest.cfg"), Style: Bundled,
		Options: Options{
			Focus:     "-k= --lf --last-failed --sw --stepwise -m= --match= -a= --attr= -A= --attribute= --eval-attr= -i= --include= --tests= --failed",
			Exclude:   "-e= --exclude= -I= --ignore-files= -E= --eval-attribute= --ignore= --ignore-glob= --deselect= --exclude-dir=",
			StopEarly: "-x --stop -F --fail-fast", RunNone: "--collect-only -p --plugins",
			HideCode: "--cover-inclusive=false --no-cov",
			Config:   "-c= --config= -w= --where= --plugin= --exclude-plugin= --no-plugins --no-user-config",
			Neutral:  "-s= --start-dir= -t= --top-level-directory= --project-directory= --verbosity= --log-level= --coverage= --coverage-report= --coverage-config= --xunit-file= --with-xunit",
			Update:   none, Loosen: none, Mask: none,
		},
		Shadows: split("nose"), TestPackages: split("nose nose2"),
	},
	{
		Name: "trial", Language: "python", Programs: []string{"trial"}, Packages: split("twisted"), Style: Bundled,
		Options: Options{
			Focus: "--testmodule= -k=", Exclude: "-N --no-recurse --without-module=",
			StopEarly: "-x --exitfirst",
			RunNone:   "-n --dry-run --help-orders --help-reactors --help-reporters",
			Loosen:    "--unclean-warnings", Config: "-r= --reactor=",
			Neutral: "-j= --jobs= -l= --logfile= -o= --order= --reporter= --tbformat= --temp-directory= -z= --random= --recursionlimit= --debugger=",
			Update:  none, Mask: none, HideCode: none,
		},
	},
	{
		Name: "green", Language: "python", Programs: []string{"green"}, Packages: split("green"), ConfigFiles: split(".green"), Style: Bundled,
		Options: Options{
			Focus: "-p= --file-pattern= -n= --test-pattern=", StopEarly: "-f --failfast",
			RunNone: "--completion-file --completions --options", HideCode: "-o= --omit-patterns=",
			Config:  "-c= --config= -g= --cov-config-file= -m= --minimum-coverage=",
			Neutral: "-s= --processes= -i= --initializer= -z= --finalizer= -X= --maxtasksperchild= -j= --junit-report= -u= --include-patterns=",
			Exclude: none, Update: none, Loosen: none, Mask: none,
		},
	},
	{
		Name: "stestr", Language: "python", Programs: []string{"stestr run", "stestr"}, Packages: split("stestr"), ConfigFiles: split(".stestr.conf"),
		Options: Options{
			Focus:   "--failing --load-list= -i= --include-list= -n= --no-discover= --pdb= --worker-file=",
			Exclude: "-e= --exclude-list= -E= --exclude-regex=", RunNone: "list last failing init",
			Mask: "--subunit", Config: "-c= --config= --test-path= -t=", Neutral: "--concurrency= --color=",
			StopEarly: none, Update: none, Loosen: none, HideCode: none,
		},
	},
	{
		Name: "ward", Language: "python", Programs: []string{"ward test", "ward"}, Packages: split("ward"),
		Options: Options{
			Focus: "--search= --tags= -p= --path= --filter= -f=", Exclude: "--exclude=",
			StopEarly: "--fail-limit=", RunNone: "--dry-run fixtures", Config: "--config= --hook-module=",
			Neutral: "--test-output-style= --progress-style= --order= --show-slowest=",
			Update:  none, Loosen: none, Mask: none, HideCode: none,
		},
	},
}
