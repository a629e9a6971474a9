package integrity

import "testing"

var harnessCases = []caseOf{
	{"makereport", "conftest.py", "import pytest\n", "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    rep = outcome.get_result()\n    rep.outcome = \"passed\"\n", "TP-21 CRITICAL"},
	{"force_result", "tests/conftest.py", none, "import pytest\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    outcome = yield\n    outcome.force_result(True)\n", "TP-21 CRITICAL"},
	{"excinfo", "conftest.py", none, "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n", "TP-21 CRITICAL"},
	{"exit status", "conftest.py", none, "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n", "TP-21 CRITICAL"},
	{"os._exit", "conftest.py", none, "import os\n\n\ndef pytest_sessionfinish(session, exitstatus):\n    os._exit(0)\n", "TP-21 CRITICAL"},
	{"pyfunc_call answers", "conftest.py", none, "def pytest_pyfunc_call(pyfuncitem):\n    return True\n", "TP-21 CRITICAL"},
	{"all skipped", "conftest.py", none, "import pytest\n\ndef pytest_collection_modifyitems(config, items):\n    for item in items:\n        item.add_marker(pytest.mark.skip(reason=\"slow\"))\n", "TP-21 CRITICAL"},
	{"items cleared", "conftest.py", none, "def pytest_collection_modifyitems(config, items):\n    items[:] = []\n", "TP-21 CRITICAL"},
	{"some removed", "conftest.py", none, "def pytest_collection_modifyitems(config, items):\n    for i in list(items):\n        if 'calc' in i.name:\n            items.remove(i)\n", "TP-21 HIGH"},
	{"teststatus", "conftest.py", none, "def pytest_report_teststatus(report, config):\n    if report.failed:\n        return \"passed\", \".\", \"PASSED\"\n", "TP-21 CRITICAL"},
	{"honest: slow tests need an option", "conftest.py", none, "import pytest\n\ndef pytest_collection_modifyitems(config, items):\n    if config.getoption(\"--runslow\"):\n        return\n    skip = pytest.mark.skip(reason=\"need --runslow\")\n    for item in items:\n        if \"slow\" in item.keywords:\n            item.add_marker(skip)\n", "TP-21 MEDIUM"},
	{"honest: fixture", "conftest.py", "import pytest\n", "import pytest\n\n@pytest.fixture\ndef app():\n    return make_app()\n", ""},
	{"honest: a hook in a string", "testing/test_runner.py", "import pytest\n", "import pytest\n\ndef test_hook(pytester):\n    pytester.makeconftest('''\n        def pytest_runtest_makereport(item, call):\n            call.excinfo = None\n    ''')\n", ""},

	{"TestMain without run", "main_test.go", none, "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n", "TP-21 CRITICAL"},
	{"TestMain drops the code", "main_test.go", none, "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n", "TP-21 CRITICAL"},
	{"TestMain turns a failure", "main_test.go", none, "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tif m.Run() != 0 {\n\t\tos.Exit(0)\n\t}\n}\n", "TP-21 CRITICAL"},
	{"rake task cleared", "Rakefile", "task default: :test\n", "task default: :test\nRake::Task[:test].clear\n", "TP-24 CRITICAL"},
	{"rake task says so", "Rakefile", "task default: :test\n", "task default: :test\ntask :test do\n  puts 'ok'\nend\n", "TP-24 CRITICAL"},
	{"honest: rake task", "Rakefile", "task default: :test\n", "task default: :test\ntask :test do\n  ruby 'test/all.rb'\nend\n", ""},
	{"collection ignored", "conftest.py", none, "def pytest_ignore_collect(collection_path):\n    return collection_path.name == 'test_calc.py'\n", "TP-21 HIGH"},
	{"honest: TestMain", "main_test.go", none, "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tif os.Getenv(\"CHILD\") != \"\" {\n\t\tos.Exit(0)\n\t}\n\tos.Exit(m.Run())\n}\n", ""},
	{"honest: TestMain of a helper", "main_test.go", none, "package x\n\nimport \"testing\"\n\nfunc TestMain(m *testing.M) { leak.VerifyTestMain(m) }\n", ""},

	{"exit in a setup file", "jest.setup.js", none, "process.on('exit', () => { process.exitCode = 0 })\n", "TP-21 CRITICAL"},
	{"exit 0 in a setup file", "test/setup.ts", "import './x'\n", "import './x'\nprocess.exit(0)\n", "TP-21 CRITICAL"},
	{"it replaced", "vitest.setup.ts", none, "globalThis.it = (name, fn) => {}\n", "TP-21 CRITICAL"},
	{"matchers pass", "test/setup.js", none, "expect.extend({ toBe() { return { pass: true, message: () => '' } } })\n", "TP-21 CRITICAL"},
	{"honest: a matcher of its own", "test/setup.js", none, "expect.extend({ toBeEven: (n) => ({ pass: n % 2 === 0, message: () => 'odd' }) })\n", ""},
	{"honest: setup file", "jest.setup.js", none, "import '@testing-library/jest-dom'\nglobal.fetch = require('node-fetch')\n", ""},
	{"honest: program exits", "src/cli.js", none, "if (help) process.exit(0)\n", ""},
	{"ruby at_exit", "spec/spec_helper.rb", "require 'x'\n", "require 'x'\nat_exit { exit! 0 }\n", "TP-21 CRITICAL"},
	{"ruby exception", "spec/spec_helper.rb", "require 'x'\n", "require 'x'\nRSpec.configure do |config|\n  config.after { |ex| ex.instance_variable_set(:@exception, nil) }\nend\n", "TP-21 CRITICAL"},
	{"php shutdown", "tests/bootstrap.php", "<?php\nrequire 'a.php';\n", "<?php\nrequire 'a.php';\nregister_shutdown_function(function () { exit(0); });\n", "TP-21 CRITICAL"},
	{"elixir halt", "test/test_helper.exs", "ExUnit.start()\n", "ExUnit.start()\nExUnit.after_suite(fn _ -> System.halt(0) end)\n", "TP-21 CRITICAL"},
	{"java handler", "src/test/java/x/Quiet.java", none, "package x;\npublic class Quiet implements TestExecutionExceptionHandler {\n  public void handleTestExecutionException(ExtensionContext c, Throwable t) { }\n}\n", "TP-21 CRITICAL"},
	{"honest: java listener", "src/test/java/x/Log.java", none, "package x;\npublic class Log implements TestExecutionListener {\n  public void executionStarted(TestIdentifier id) { log(id); }\n}\n", "TP-21 MEDIUM"},
	{"rust custom framework", "src/lib.rs", "pub mod a;\n", "#![feature(custom_test_frameworks)]\n#![test_runner(crate::quiet)]\npub mod a;\n", "TP-21 CRITICAL"},
	{"rust module removed", "src/lib.rs", "pub mod calc;\n#[cfg(test)]\nmod tests;\n", "pub mod calc;\n", "TP-26 CRITICAL"},
	{"honest: rust module inline", "src/lib.rs", "pub mod calc;\n#[cfg(test)]\nmod tests;\n", "pub mod calc;\n#[cfg(test)]\nmod tests {\n}\n", ""},
}

func TestHarnessRules(t *testing.T) { checkCases(t, harnessCases) }
