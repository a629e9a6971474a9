package integrity

import "testing"

const (
	rakeAll  = "Rake::TestTask.new do |t|\n  t.test_files = FileList[\"test/**/*_test.rb\", \"test/**/spec_*.rb\"]\nend\n"
	rakeDeep = "Rake::TestTask.new do |t|\n  t.pattern = 'test/smoke/*_test.rb'\nend\n"
	// mavenExcludes and mavenOnlyNew leave tests out of what is compiled: always, and
	// where Java is too old for them.
	mavenPlain    = "<project><build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId></plugin></plugins></build></project>"
	mavenExcludes = "<project><build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><configuration><testExcludes><exclude>${excl}</exclude></testExcludes></configuration></plugin></plugins></build></project>"
	mavenOnlyNew  = "<project><properties><excl>**/Java17*</excl></properties><build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><configuration><testExcludes><exclude>${excl}</exclude></testExcludes></configuration></plugin></plugins></build>" +
		"<profiles><profile><activation><jdk>[17,)</jdk></activation><properties><excl></excl></properties></profile></profiles></project>"
)

var settingCases = []caseOf{
	{"rake takes tests from a deeper folder", "Rakefile", rakeAll, rakeDeep, "TP-26 HIGH"},
	{"honest: rake takes more", "Rakefile", rakeDeep, rakeAll, ""},
	{"maven compiles fewer tests", "pom.xml", mavenPlain, mavenExcludes, "TP-26 CRITICAL"},
	{"maven compiles fewer tests on an old Java", "pom.xml", mavenPlain, mavenOnlyNew, "TP-26 MEDIUM"},
	{"fail_under", ".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 40\n", "TP-27 CRITICAL"},
	{"fail_under in pyproject", "pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nfail_under = 89.5 # for now\n", "TP-27 CRITICAL"},
	{"fail_under gone", "pyproject.toml", "[tool.coverage.report]\nfail_under = 90\nshow_missing = true\n", "[tool.coverage.report]\nshow_missing = true\n", "TP-27 HIGH"},
	{"honest: fail_under raised", ".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 95\n", ""},
	{"jest threshold", "package.json", `{"jest": {"coverageThreshold": {"global": {"branches": 80, "lines": 90}}}}`, `{"jest": {"coverageThreshold": {"global": {"branches": 40, "lines": 90}}}}`, "TP-27 CRITICAL"},
	{"jest threshold in code", "jest.config.js", "module.exports = {\n  coverageThreshold: { global: { lines: 90 } },\n}\n", "module.exports = {\n  coverageThreshold: { global: { lines: 9 } },\n}\n", "TP-27 CRITICAL"},
	{"vitest threshold", "vitest.config.ts", "export default defineConfig({ test: { coverage: { thresholds: { lines: 90 } } } })\n", "export default defineConfig({ test: { coverage: { thresholds: { lines: 50 } } } })\n", "TP-27 CRITICAL"},
	{"nyc", ".nycrc", `{"check-coverage": true, "lines": 90}`, `{"check-coverage": true, "lines": 60}`, "TP-27 CRITICAL"},
	{"nyc off", ".nycrc", `{"check-coverage": true, "lines": 90}`, `{"check-coverage": false, "lines": 90}`, "TP-27 HIGH"},
	{"jacoco", "build.gradle", "jacocoTestCoverageVerification {\n  violationRules { rule { limit { minimum = 0.8 } } }\n}\n", "jacocoTestCoverageVerification {\n  violationRules { rule { limit { minimum = 0.1 } } }\n}\n", "TP-27 CRITICAL"},
	{
		"jacoco in maven", "pom.xml", "<project><build><plugins><plugin><artifactId>jacoco-maven-plugin</artifactId><configuration><rules><rule><limits><limit><minimum>0.80</minimum></limit></limits></rule></rules></configuration></plugin></plugins></build></project>",
		"<project><build><plugins><plugin><artifactId>jacoco-maven-plugin</artifactId><configuration><rules><rule><limits><limit><minimum>0.20</minimum></limit></limits></rule></rules></configuration></plugin></plugins></build></project>", "TP-27 CRITICAL",
	},
	{"simplecov", "spec/spec_helper.rb", "SimpleCov.start do\n  minimum_coverage 90\nend\n", "SimpleCov.start do\n  minimum_coverage 10\nend\n", "TP-27 CRITICAL"},
	{"elixir", "mix.exs", "def project do\n  [app: :x, test_coverage: [summary: [threshold: 90]]]\nend\n", "def project do\n  [app: :x, test_coverage: [summary: [threshold: 30]]]\nend\n", "TP-27 CRITICAL"},
	{"coverlet", "x.csproj", "<Project><PropertyGroup><CoverageThreshold>80</CoverageThreshold></PropertyGroup></Project>", "<Project><PropertyGroup><CoverageThreshold>8</CoverageThreshold></PropertyGroup></Project>", "TP-27 CRITICAL"},
	{"codecov target", "codecov.yml", "coverage:\n  status:\n    project:\n      default:\n        target: 90%\n", "coverage:\n  status:\n    project:\n      default:\n        target: 50%\n", "TP-27 CRITICAL"},
	{"codecov threshold", "codecov.yml", "coverage:\n  status:\n    project:\n      default:\n        threshold: 1%\n", "coverage:\n  status:\n    project:\n      default:\n        threshold: 50%\n", "TP-27 CRITICAL"},
	{"omit a module", ".coveragerc", "[run]\nsource = app\n", "[run]\nsource = app\nomit =\n    app/calc.py\n", "TP-27 HIGH"},
	{"omit a folder", ".coveragerc", "[run]\nsource = app\n", "[run]\nsource = app\nomit = app/legacy/*\n", "TP-27 MEDIUM"},
	{"omit a module of a plugin of pytest", ".coveragerc", "[run]\nsource = src\n", "[run]\nsource = src\nomit = src/pytest_calc/calc.py\n", "TP-27 HIGH"},
	{"honest: omit tests", ".coveragerc", "[run]\nsource = app\n", "[run]\nsource = app\nomit = */tests/*\n", ""},
	{"collect no coverage from", "jest.config.js", "module.exports = { collectCoverageFrom: ['src/**'] }\n", "module.exports = { collectCoverageFrom: ['src/**', '!src/legacy/**'] }\n", "TP-27 MEDIUM"},
	{"a number of another kind", "pyproject.toml", "[tool.black]\nline-length = 100\n", "[tool.black]\nline-length = 79\n", ""},

	{"testpaths narrowed", "pytest.ini", "[pytest]\ntestpaths = tests integration\n", "[pytest]\ntestpaths = tests\n", "TP-26 CRITICAL"},
	{"testpaths to a file", "pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n", "[tool.pytest.ini_options]\ntestpaths = [\"tests/test_ok.py\"]\n", "TP-26 CRITICAL"},
	{"honest: testpaths widened", "pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n", "[tool.pytest.ini_options]\ntestpaths = [\"tests\", \"examples\"]\n", ""},
	{"python_files", "pytest.ini", "[pytest]\npython_files = test_*.py\n", "[pytest]\npython_files = check_ok.py\n", "TP-26 CRITICAL"},
	{"norecursedirs", "pytest.ini", "[pytest]\nnorecursedirs = build\n", "[pytest]\nnorecursedirs = build tests/unit\n", "TP-26 CRITICAL"},
	{"collect_ignore", "tests/conftest.py", "import pytest\n", "import pytest\n\ncollect_ignore = [\"test_calc.py\"]\n", "TP-26 CRITICAL"},
	{"collect_ignore_glob over lines", "conftest.py", none, "collect_ignore_glob = [\n    \"tests/test_c*.py\",\n]\n", "TP-26 CRITICAL"},
	{"honest: collect_ignore setup.py", "conftest.py", none, "collect_ignore = [\"setup.py\"]\n", ""},
	{"jest ignore", "package.json", `{"jest": {"testPathIgnorePatterns": ["/node_modules/"]}}`, `{"jest": {"testPathIgnorePatterns": ["/node_modules/", "calc.test.js"]}}`, "TP-26 CRITICAL"},
	{"honest: jest ignore dist", "package.json", `{"jest": {}}`, `{"jest": {"testPathIgnorePatterns": ["/node_modules/", "/dist/"]}}`, ""},
	{"vitest exclude", "vitest.config.ts", "export default defineConfig({\n  test: {\n    globals: true,\n  },\n})\n", "export default defineConfig({\n  test: {\n    globals: true,\n    exclude: ['src/calc.test.ts'],\n  },\n})\n", "TP-26 CRITICAL"},
	{"mocharc ignore", ".mocharc.json", `{"spec": "test"}`, `{"spec": "test", "ignore": ["test/calc.js"]}`, "TP-26 CRITICAL"},
	{"mocharc yaml", ".mocharc.yml", "spec: test\n", "spec: test\ngrep: adds\n", "TP-08 CRITICAL"},
	{"surefire exclude", "pom.xml", surefire(""), surefire("<excludes><exclude>**/CalcTest.java</exclude></excludes>"), "TP-26 CRITICAL"},
	{"surefire skip", "pom.xml", surefire(""), surefire("<skipTests>true</skipTests>"), "TP-26 CRITICAL"},
	{"surefire ignore failures", "pom.xml", surefire(""), surefire("<testFailureIgnore>true</testFailureIgnore>"), "TP-21 CRITICAL"},
	{"surefire test", "pom.xml", surefire(""), surefire("<test>FooTest</test>"), "TP-08 HIGH"},
	{"honest: surefire memory", "pom.xml", surefire(""), surefire("<argLine>-Xmx1g</argLine>"), ""},
	{"gradle ignore failures", "build.gradle", "test {\n  useJUnitPlatform()\n}\n", "test {\n  useJUnitPlatform()\n  ignoreFailures = true\n}\n", "TP-25 CRITICAL"},
	{"gradle kts exclude", "build.gradle.kts", "tasks.test {\n  useJUnitPlatform()\n}\n", "tasks.test {\n  useJUnitPlatform()\n  exclude(\"**/CalcTest*\")\n}\n", "TP-26 CRITICAL"},
	{"gradle disabled", "build.gradle", "test {\n  useJUnitPlatform()\n}\n", "test {\n  useJUnitPlatform()\n  enabled = false\n}\n", "TP-26 CRITICAL"},
	{"phpunit exclude", "phpunit.xml", "<phpunit><testsuites><testsuite name=\"a\"><directory>tests</directory></testsuite></testsuites></phpunit>", "<phpunit><testsuites><testsuite name=\"a\"><directory>tests</directory><exclude>tests/CalcTest.php</exclude></testsuite></testsuites></phpunit>", "TP-26 CRITICAL"},
	{"phpunit bootstrap", "phpunit.xml", "<phpunit bootstrap=\"vendor/autoload.php\"><testsuites/></phpunit>", "<phpunit bootstrap=\"tests/boot.php\"><testsuites/></phpunit>", "TP-21 HIGH"},
	{"csproj remove", "Tests.csproj", "<Project></Project>", "<Project><ItemGroup><Compile Remove=\"CalcTests.cs\" /></ItemGroup></Project>", "TP-26 CRITICAL"},
	{"cargo test = false", "Cargo.toml", "[package]\nname = \"x\"\n[lib]\npath = \"src/lib.rs\"\n", "[package]\nname = \"x\"\n[lib]\npath = \"src/lib.rs\"\ntest = false\n", "TP-26 CRITICAL"},
	{"cargo harness", "Cargo.toml", "[[test]]\nname = \"a\"\n", "[[test]]\nname = \"a\"\nharness = false\n", "TP-26 CRITICAL"},
	{"cargo harness of tests that were found", "Cargo.toml", "[package]\nname = \"x\"\n", "[package]\nname = \"x\"\n[[test]]\nname = \"ui\"\nharness = false\n", "TP-26 CRITICAL"},
	{"honest: bench harness", "Cargo.toml", "[package]\nname = \"x\"\n", "[package]\nname = \"x\"\n[[bench]]\nname = \"b\"\nharness = false\n", ""},
	{"rspec args", ".rspec", "--color\n", "--color\n--tag ~broken\n", "TP-26 HIGH"},
	{"exunit exclude", "test/test_helper.exs", "ExUnit.start()\n", "ExUnit.configure(exclude: [\"calc\"])\nExUnit.start()\n", "TP-26 HIGH"},

	{"gradle kts named", "build.gradle.kts", "plugins { java }\n", "plugins { java }\ntasks.named(\"test\") {\n  enabled = false\n}\n", "TP-26 CRITICAL"},
	{"gradle kts with type", "build.gradle.kts", "tasks.withType<Test> {\n  useJUnitPlatform()\n}\n", "tasks.withType<Test> {\n  useJUnitPlatform()\n  ignoreFailures = true\n}\n", "TP-25 CRITICAL"},
	{"swift exclude", "Package.swift", "    .testTarget(name: \"T\", dependencies: [\"A\"]),\n", "    .testTarget(name: \"T\", dependencies: [\"A\"], exclude: [\"SumTests.swift\"]),\n", "TP-26 CRITICAL"},
	{"maven property", "pom.xml", "<project><properties><a>1</a></properties></project>", "<project><properties><a>1</a><test>OkTest</test></properties></project>", "TP-08 HIGH"},
	{"rake pattern", "Rakefile", "Rake::TestTask.new do |t|\n  t.pattern = \"test/*_test.rb\"\nend\n", "Rake::TestTask.new do |t|\n  t.pattern = \"test/ok/*_test.rb\"\nend\n", "TP-26 HIGH"},
	{"honest: rake pattern", "Rakefile", "Rake::TestTask.new do |t|\n  t.pattern = \"test/*_test.rb\"\nend\n", "Rake::TestTask.new do |t|\n  t.pattern = \"test/**/*_test.rb\"\nend\n", ""},
	{"mix pattern", "mix.exs", "def project do\n  [app: :x, version: \"1\"]\nend\n", "def project do\n  [app: :x, version: \"1\", test_pattern: \"ok_*.exs\"]\nend\n", "TP-26 HIGH"},
	{"mix alias replaces test", "mix.exs", "def project do\n  [app: :x, version: \"1\"]\nend\n", "def project do\n  [app: :x, version: \"1\", aliases: [test: [\"compile\"]]]\nend\n", "TP-24 CRITICAL"},
	{"honest: mix alias", "mix.exs", "def project do\n  [app: :x, version: \"1\"]\nend\n", "def project do\n  [app: :x, version: \"1\", aliases: [test: [\"ecto.create\", \"test\"]]]\nend\n", ""},
	{"simplecov parts", "test/helper.rb", "SimpleCov.minimum_coverage line: 95, branch: 90\n", "SimpleCov.minimum_coverage line: 50, branch: 90\n", "TP-27 CRITICAL"},
	{"cmake", "CMakeLists.txt", "add_test(a a)\n", "add_test(a a)\nset_tests_properties(a PROPERTIES DISABLED TRUE)\n", "TP-26 HIGH"},

	{"jest timeout", "jest.config.js", "module.exports = { testTimeout: 5000 }\n", "module.exports = { testTimeout: 60000 }\n", "TP-15 MEDIUM"},
	{"playwright retries", "playwright.config.ts", "export default defineConfig({ timeout: 30000 })\n", "export default defineConfig({ timeout: 30000, retries: 3 })\n", "TP-15 MEDIUM"},
	{"honest: a little more time", "jest.config.js", "module.exports = { testTimeout: 5000 }\n", "module.exports = { testTimeout: 6000 }\n", ""},
	{"jest setup file", "jest.config.js", "module.exports = { }\n", "module.exports = { setupFilesAfterEach: [], setupFiles: ['./fix.js'] }\n", "TP-21 MEDIUM"},
	{"jest own reporter", "jest.config.js", "module.exports = { }\n", "module.exports = { reporters: ['./quiet.js'] }\n", "TP-21 HIGH"},
	{"honest: jest reporter of a package", "jest.config.js", "module.exports = { }\n", "module.exports = { reporters: ['default', 'jest-junit'] }\n", ""},

	{"eslint rule off", ".eslintrc.json", `{"rules": {"no-undef": "error"}}`, `{"rules": {"no-undef": "off"}}`, "TP-28 MEDIUM"},
	{"eslint three rules off", ".eslintrc.json", `{"rules": {"a": "error"}}`, `{"rules": {"a": "off", "b": 0, "c": ["off"]}}`, "TP-28 HIGH"},
	{"honest: eslint rule on", ".eslintrc.json", `{"rules": {"no-undef": "off"}}`, `{"rules": {"no-undef": "error"}}`, ""},
	{"tsconfig strict", "tsconfig.json", "{\n  // all of it\n  \"compilerOptions\": {\"strict\": true},\n}\n", "{\n  // all of it\n  \"compilerOptions\": {\"strict\": false},\n}\n", "TP-28 HIGH"},
	{"ruff ignore", "pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\n", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\nignore = [\"E501\"]\n", "TP-28 MEDIUM"},
	{"ruff select", "pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\n", "[tool.ruff.lint]\nselect = [\"E\"]\n", "TP-28 MEDIUM"},
	{"golangci disable", ".golangci.yml", "linters:\n  enable:\n    - errcheck\n    - govet\n", "linters:\n  enable:\n    - govet\n", "TP-28 MEDIUM"},
	{"phpstan level", "phpstan.neon", "parameters:\n  level: 8\n", "parameters:\n  level: 2\n", "TP-27 CRITICAL"},
	{"complexity", "pyproject.toml", "[tool.ruff.lint.mccabe]\nmax-complexity = 10\n", "[tool.ruff.lint.mccabe]\nmax-complexity = 12\n", "TP-28 MEDIUM"},
	{"complexity times four", "pyproject.toml", "[tool.ruff.lint.mccabe]\nmax-complexity = 10\n", "[tool.ruff.lint.mccabe]\nmax-complexity = 40\n", "TP-28 HIGH"},

	{"pytest_addopts", ".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: pytest\n", "jobs:\n  a:\n    env:\n      PYTEST_ADDOPTS: --deselect tests/test_a.py::test_x\n    steps:\n      - run: pytest\n", "TP-31 CRITICAL"},
	{"honest: pytest_addopts", ".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: pytest\n", "jobs:\n  a:\n    env:\n      PYTEST_ADDOPTS: --color=yes\n    steps:\n      - run: pytest\n", ""},
	{"node_options", ".env", "A=1\n", "A=1\nNODE_OPTIONS=--require ./hook.js\n", "TP-31 CRITICAL"},
	{"honest: node_options", ".env", "A=1\n", "A=1\nNODE_OPTIONS=--max-old-space-size=4096\n", ""},
	{"script-shell", ".npmrc", "save-exact=true\n", "save-exact=true\nscript-shell=./quiet\n", "TP-31 CRITICAL"},
	{"cargo runner", ".cargo/config.toml", none, "[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n", "TP-31 CRITICAL"},
	{"honest: cargo runner", ".cargo/config.toml", none, "[target.wasm32-wasi]\nrunner = \"wasmtime\"\n", ""},
	{"goflags", "Makefile", "test:\n\tgo test ./...\n", "export GOFLAGS = -skip=TestSum\ntest:\n\tgo test ./...\n", "TP-31 CRITICAL"},
	{"maven config", ".mvn/maven.config", "-B\n", "-B\n-DskipTests\n", "TP-24 CRITICAL"},

	{"mapped to a mock", "jest.config.js", "module.exports = { }\n", "module.exports = { moduleNameMapper: { '^./calc$': '<rootDir>/test/calc-stub.js' } }\n", "TP-32 HIGH"},
	{"honest: mapped styles", "jest.config.js", "module.exports = { }\n", "module.exports = { moduleNameMapper: { '\\\\.css$': '<rootDir>/test/styleMock.js' } }\n", ""},
	{"cargo patch", "Cargo.toml", "[package]\nname = \"x\"\n", "[package]\nname = \"x\"\n[patch.crates-io.serde]\npath = \"shim/serde\"\n", "TP-32 HIGH"},
	{"npm dependency of a folder", "package.json", `{"devDependencies": {"chai": "^4"}}`, `{"devDependencies": {"chai": "file:./chai"}}`, "TP-32 HIGH"},
}

func surefire(configuration string) string {
	return "<project><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><configuration><forkCount>1</forkCount>" + configuration + "</configuration></plugin></plugins></build></project>"
}

func TestSettingRules(t *testing.T) { checkCases(t, settingCases) }
