package framework

import "supervise/internal/regexp"

// Expressions for frameworks of C and C++, to be combined by callers.
const (
	// CMakeDiscovery matches the commands of CMake that find the tests of a program.
	CMakeDiscovery = `gtest_discover_tests|catch_discover_tests|doctest_discover_tests`

	// CMakeRegistration matches the commands of extensions of CMake that register tests.
	CMakeRegistration = CMakeDiscovery + `|gtest_add_tests|add_gtest`

	// NativeLibrary matches the name of a library for tests in a build file: its programs
	// have test cases.
	NativeLibrary = `(?i)gtest|googletest|catch2?\b|catch_|doctest|unit_test_framework`

	// NativeInclude matches the line that includes such a library, also one that is a file of
	// the project.
	NativeInclude = `(?m)^\s*#\s*include\s*[<"](gtest/|gmock/|catch2/|boost/test/|([\w./-]*/)?(catch|catch_amalgamated|doctest)\.h)`
)

// NativeReport is a framework whose programs read from the environment how to report. Where a run
// starts several programs, the results of each must be kept, so they are printed as TAP or written
// to separate files.
type NativeReport struct {
	Linked *regexp.Regexp // matches a line of a Makefile that links the framework, or runs it: "-lcheck"
	Env    string         // the variable, as NAME=value
	Files  string         // the pattern of the files that a program writes; "" if it prints
}

// NativeReports are frameworks of C and C++, and prove of Perl.
//
// https://libcheck.github.io/check/doc/check_html/check_4.html#Environment-Variable-Reference,
// https://api.cmocka.org/group__cmocka__exec.html,
// https://criterion.readthedocs.io/en/master/env.html,
// https://perldoc.perl.org/TAP::Harness::Env#ENVIRONMENTAL-VARIABLES
var NativeReports = []NativeReport{
	{regexp.MustCompile(`(?i)(-l|lib|/)(gtest|gmock)`), "GTEST_OUTPUT=xml:" + ReportDir + "/", ReportDir + "/*.xml"},
	{regexp.MustCompile(`-lcheck\b|pkg-config\b.*\s"?check\b`), "CK_TAP_LOG_FILE_NAME=-", ""},
	{regexp.MustCompile(`-lcmocka\b|pkg-config\b.*\s"?cmocka\b`), "CMOCKA_MESSAGE_OUTPUT=TAP", ""},
	{regexp.MustCompile(`(?m)^(\t.*|PROVE\s*[:?]?=.*)\bprove\b`), "HARNESS_VERBOSE=1", ""},
	{regexp.MustCompile(`-lcriterion\b|pkg-config\b.*\s"?criterion\b`), "CRITERION_OUTPUTS=tap:-", ""},
}

// native are the rows of the frameworks of C and C++. Programs of GoogleTest and similar libraries
// have any name, so ctest and make start them. [Framework] explains the fields of a row, and
// [Options] the notation of the options.
var native = []Framework{
	{
		Name: "ctest", Language: "c++", Programs: []string{"ctest"}, ConfigFiles: split("CMakeLists.txt CTestCustom.cmake"),
		Options: Options{
			Focus:     "-R= -L= --tests-regex= --label-regex= --rerun-failed -I= --tests-information= --preset=",
			Exclude:   "-E= -LE= --exclude-regex= --label-exclude= -FA= --fixture-exclude-any= -FS= --fixture-exclude-setup= -FC= --fixture-exclude-cleanup= --tests-from-file= --exclude-from-file=",
			StopEarly: "--stop-on-failure --stop-time=",
			RunNone:   "-N --show-only[=] --print-labels --list-presets",
			Loosen:    "--repeat= --repeat-until-fail= --timeout= --test-timeout=", Mask: "--no-tests=ignore",
			Config:  "-C= --build-config= --test-dir= -S= --script= -D= -T= --test-action= -M= --test-model=",
			Neutral: "-j= --parallel= -O= --output-log= --output-junit= --max-width= --test-load= --test-output-size-passed= --test-output-size-failed=",
			Update:  none, HideCode: none,
		},
		Rerun:   Rerun{Way: ByWords, Programs: split("ctest"), Words: func(s Selection) []string { return []string{"-R", s.anyNamePattern("^(", ")$", blanks, nameOf)} }},
		List:    List{Args: split("--show-only=json-v1"), Format: CTestList},
		Report:  Output{Format: "junit", Args: split("--output-junit {{report_dir}}/ctest.xml --output-on-failure"), Files: split("{{report_dir}}/ctest.xml")},
		Mutants: Environment, Marks: split("DASHBOARD_TEST_FROM_CTEST"),
		Unsupported: map[Capability]string{Affects: "has no such option", Covers: "needs options of the compiler"},
	},
	{
		Name: "meson", Language: "c++", Programs: []string{"meson test"}, ConfigFiles: split("meson.build"),
		Options: Options{
			Focus: "--suite=", Exclude: "--no-suite=", StopEarly: "--maxfail=", RunNone: "--list --benchmark",
			Loosen:  "-t= --timeout-multiplier= --repeat=",
			Config:  "--setup= --wrapper= --wrap= --test-args= --gdb -C=",
			Neutral: "-j= --num-processes= --logbase= --max-lines=", Update: none, Mask: none, HideCode: none,
		},
		Report:  Output{Format: "junit", Files: split("meson-logs/testlog.junit.xml")},
		Mutants: Environment, Marks: split("MESON_TEST_ITERATION"),
		Unsupported: map[Capability]string{
			Reruns: "names of tests are not unique", Lists: "its list has no names of cases",
			Affects: "has no such option", Covers: "needs options of the compiler",
		},
	},
	{
		Name: "googletest", Language: "c++",
		Options: Options{
			Focus: "--gtest_filter=", Exclude: "--gtest_filter=-*",
			StopEarly: "--gtest_fail_fast --gtest_break_on_failure", RunNone: "--gtest_list_tests",
			Loosen: "--gtest_repeat=", Config: "--gtest_flagfile=", Update: none, Mask: none, HideCode: none,
		},
		Report:  Output{Format: "junit", Args: split("--gtest_output=xml:{{report_dir}}"), Env: split("GTEST_OUTPUT=xml:{{report_dir}}")},
		Mutants: Environment, Marks: split("GTEST_OUTPUT GTEST_FILTER"), Unsupported: programOfAnyName(),
	},
	{
		Name: "catch2", Language: "c++",
		Options: Options{
			Focus: "-c= --section= -f= --input-file=", StopEarly: "-a --abort -x= --abortx=",
			RunNone: "-l --list-tests --list-tags --list-reporters",
			Mask:    "--allow-running-no-tests -e --nothrow",
			Exclude: none, Update: none, Loosen: none, HideCode: none, Config: none,
		},
		Report:  Output{Format: "catch2", Args: split("-r xml")},
		Mutants: Environment, Marks: split("CATCH_CONFIG_MAIN"), Unsupported: programOfAnyName(),
	},
	{
		Name: "doctest", Language: "c++",
		Options: Options{
			Focus:     "--test-case= -tc= --test-suite= -ts= --source-file= -sf= --subcase= -sc= -f= --first= -l= --last=",
			Exclude:   "--test-case-exclude= -tce= --test-suite-exclude= -tse= --source-file-exclude= -sfe= --subcase-exclude= -sce=",
			StopEarly: "--abort-after= -aa=",
			RunNone:   "--list-test-cases -ltc --list-test-suites -lts --count -c --no-run -nr",
			Mask:      "--no-exitcode -ne --no-throw -nt", Update: none, Loosen: none, HideCode: none, Config: none,
		},
		Report: Output{Format: "doctest", Args: split("-r=xml")}, Mutants: Environment,
		Unsupported: programOfAnyName(Detectable),
	},
	{
		Name: "boost.test", Language: "c++",
		Options: Options{
			Focus: "--run_test= -t=", Exclude: "--run_test=!*", RunNone: "--list_content[=] --list_labels",
			Mask:      "--result_code=no --catch_system_errors=no",
			StopEarly: none, Update: none, Loosen: none, HideCode: none, Config: none,
		},
		Report: Output{Format: "boost", Args: split("--log_format=XML")}, Mutants: Environment,
		Unsupported: programOfAnyName(Detectable),
	},
}

// programOfAnyName returns the reasons of a library that is linked into a program of the project.
// markless are capabilities that it lacks because it sets nothing by which code could notice it.
func programOfAnyName(markless ...Capability) map[Capability]string {
	out := map[Capability]string{
		Call:    "is linked into programs of the project, which have any name",
		Detect:  "is found when ctest runs its program",
		Reruns:  "ctest runs its program again",
		Lists:   "its program is asked by ctest",
		Covers:  "needs options of the compiler",
		Affects: "has no such option",
	}
	for _, c := range markless {
		out[c] = "sets nothing itself"
	}
	return out
}
