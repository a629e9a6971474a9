package project

import (
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

// cmakeTestsPattern matches a command by which a build file has tests for ctest: enable_testing(),
// include(CTest), add_test(NAME unit …), or one that discovers the cases of a test program.
var cmakeTestsPattern = regexp.MustCompile(`(?mi)^\s*(enable_testing|include\s*\(\s*CTest\s*\)|add_test|` + framework.CMakeDiscovery + `)`)

// proposeCMake recognizes a CMake project. Three checks need its build folder, so it is
// in the tree: an existing one, else one that git ignores, else "build".
func proposeCMake(f projectfs.Folder) proposal {
	lists := findCMakeLists(f)
	testsByMeson := lists.hasMesonTests()
	if testsByMeson && f.OnPath("meson") {
		return proposal{}
	}
	p := proposal{language: "c++", covers: lists.covers}
	p.require(f, "cmake", "install CMake 3.21 or later")
	p.addTool("CMake", "CMakeLists.txt")
	dir := chooseBuildFolder(f, &p, "CMakeCache.txt")
	p.add(
		Check{Kind: Build, Name: "cmake", Command: withWords([]string{"cmake", "-S", ".", "-B", dir}, withWords(enableTestOptions(f, &p, dir), disableDocOptions(f)...)...), Stderr: true, Env: lists.policyEnvironment()},
		Check{Kind: Build, Name: "cmake --build", Command: []string{"cmake", "--build", dir}, Stderr: true},
	)
	if testsByMeson {
		p.note("the tests are those of meson.build: pip install meson ninja")
		return p
	}
	lists.addCTest(&p, dir)
	return p
}

// cmakeMinimumPattern matches the requirement of a version before 3.5, which CMake 4 refuses:
// cmake_minimum_required(VERSION 3.1). It does not match a range, as in VERSION 3.1...3.20.
var cmakeMinimumPattern = regexp.MustCompile(`(?i)\bcmake_minimum_required\s*\(\s*VERSION\s+(?:2(?:\.\d+)*|3(?:\.[0-4](?:\.\d+)*)?)\s*(?:\)|\s[^.])`)

// policyEnvironment returns the variable with which CMake 4 configures a project that was written for
// CMake before 3.5. Older versions of CMake ignore it.
//
// https://cmake.org/cmake/help/latest/envvar/CMAKE_POLICY_VERSION_MINIMUM.html
func (l cmakeLists) policyEnvironment() []string {
	if l.firstFile(cmakeMinimumPattern) == "" {
		return nil
	}
	return []string{"CMAKE_POLICY_VERSION_MINIMUM=3.5"}
}

// cmakeSwitchPattern matches an option that leaves all tests out of the build by default:
// option(BUILD_TESTS "Build the tests" OFF). Options for one group of tests have other names, and
// are not changed.
var cmakeSwitchPattern = switchPattern(`((?:\w+_)?(?:build|enable|with|use)_(?:unit_?)?test(?:s|ing)?)`)

// switchPattern returns an expression for an option or a cache variable that is off by default:
// option(NAME "text" OFF) or set(NAME OFF CACHE …). An option without a value is off. name is an
// expression with one group for the name, so that the result has two groups, of which one is
// set.
func switchPattern(name string) *regexp.Regexp {
	const off = `(?:(?:off|false|no|0)\b|"?\$\{\w+\})` // a variable mostly says whether the project is the main one
	return regexp.MustCompile(`(?i)\b(?:option|cmake_dependent_option)\s*\(\s*` + name + `\s+(?:"(?:[^"\\]|\\.)*"\s*)?(?:` + off + `|\))|` +
		`\bset\s*\(\s*` + name + `\s+` + off + `\s+CACHE\b`)
}

// cmakeCommentPattern matches a comment, on a line or after code.
var cmakeCommentPattern = regexp.MustCompile(`(?m)(^|\s)#.*$`)

// enableTestOptions returns the arguments of cmake that switch on the tests if they are off by
// default, such as -DBUILD_TESTS=ON. An option that is off in an existing build folder dir is not
// changed, but noted.
func enableTestOptions(f projectfs.Folder, p *proposal, dir string) []string {
	text := readUncommented(f, "CMakeLists.txt")
	cache := f.Read(dir + "/CMakeCache.txt")
	var names []string
	all := cmakeSwitchPattern.FindAllStringSubmatch(text, -1)
	if name := notWordPattern.ReplaceAllString(cmakeProjectName(f), "_?"); name != "" { // X_TESTS, ENABLE_X_TESTING of the project X
		all = append(all, switchPattern(`((?:build_|enable_)?`+name+`_(?:compile_)?test(?:s|ing)?)`).FindAllStringSubmatch(text, -1)...)
	}
	for _, m := range all {
		names = append(names, m[1]+m[2])
	}
	if names = projectfs.Unique(names); len(names) > 0 && strings.Contains(text, "BUILD_TESTING") {
		names = projectfs.Unique(append(names, "BUILD_TESTING"))
	}
	var out []string
	for _, name := range names {
		if regexp.MustCompile(`(?mi)^` + name + `:\w+=(off|false|no|0)$`).MatchString(cache) {
			p.note("%s is off in %s: for its tests, run cmake -D%s=ON %s", name, dir, name, dir)
			continue
		}
		out = append(out, "-D"+name+"=ON")
	}
	return out
}

// notWordPattern matches a character of a project's name that an option may replace by "_" or
// leave out.
var notWordPattern = regexp.MustCompile(`[\W_]`)

// cmakeDocsPattern matches an option that builds the documentation by default, and captures its
// name: option(BUILD_DOCS "Build the manual" ON).
var cmakeDocsPattern = regexp.MustCompile(`(?i)\boption\s*\(\s*((?:\w+_)?(?:build|enable|with)_doc(?:s|umentation)?)\s+"(?:[^"\\]|\\.)*"\s+(?:on|true|yes|1)\b`)

// disableDocOptions returns the arguments of cmake that leave the documentation out if Doxygen is
// missing, such as -DBUILD_DOCS=OFF. Without them many projects cannot be configured.
func disableDocOptions(f projectfs.Folder) (out []string) {
	if f.OnPath("doxygen") {
		return nil
	}
	for _, m := range cmakeDocsPattern.FindAllStringSubmatch(readUncommented(f, "CMakeLists.txt"), -1) {
		out = append(out, "-D"+m[1]+"=OFF")
	}
	return projectfs.Unique(out)
}
