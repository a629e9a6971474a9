package project

import (
	"slices"
	"strings"

	"supervise/internal/ctestcases"
	"supervise/internal/regexp"
)

var cmakeTests = regexp.MustCompile(`(?mi)^\s*(enable_testing|include\s*\(\s*CTest\s*\)|add_test|gtest_discover_tests|catch_discover_tests|doctest_discover_tests)`)

// proposeCMake recognises a CMake project. Three checks need its build folder, so it is
// in the tree: an existing one, else one that git ignores, else "build".
func proposeCMake(f folder) proposal {
	p := proposal{language: "c++", covers: everything}
	if !f.found("cmake") {
		p.note("cmake is not on PATH: install CMake 3.21 or later")
	}
	p.tool("CMake", "CMakeLists.txt")
	dir := buildFolder(f, &p, "CMakeCache.txt")
	p.add(
		Check{Kind: Build, Name: "cmake", Command: []string{"cmake", "-S", ".", "-B", dir}, Stderr: true},
		Check{Kind: Build, Name: "cmake --build", Command: []string{"cmake", "--build", dir, "--parallel"}, Stderr: true},
	)
	lists := append([]string{"CMakeLists.txt"}, f.search(200, "CMakeLists.txt")...)
	file := f.holds(cmakeTests, lists...)
	if file == "" {
		p.note("no tests recognised: call enable_testing() and add_test() in CMakeLists.txt")
		return p
	}
	report := ReportDir + "/ctest.xml"
	p.tool("ctest", file)
	c := Check{
		Kind: Test, Name: "ctest", Runner: "ctest", Reports: []string{report},
		Command:   []string{"ctest", "--test-dir", dir, "--output-junit", report, "--output-on-failure"},
		Inventory: []string{"ctest", "--test-dir", dir, "--show-only=json-v1"},
	}
	if f.holds(cmakeCases, lists...) != "" {
		c.Command[2], c.Files = ReportDir+"/"+ctestcases.Folder, ctestcases.Files(dir)
	}
	p.add(c)
	return p
}

// cmakeCases are the frameworks whose programs have cases of their own.
var cmakeCases = regexp.MustCompile(`(?i)gtest|googletest|catch2?\b|catch_|doctest`)

// proposeMeson recognises a Meson project, which writes its report into the build
// folder.
func proposeMeson(f folder) proposal {
	if f.has("CMakeLists.txt") != "" {
		return proposal{}
	}
	p := proposal{language: "c++", covers: everything}
	if !f.found("meson") {
		p.note("meson is not on PATH: pip install meson ninja")
	}
	p.tool("Meson", "meson.build")
	dir := buildFolder(f, &p, "meson-private/coredata.dat")
	if f.has(dir+"/meson-private/coredata.dat") == "" {
		p.add(Check{Kind: Build, Name: "meson setup", Command: []string{"meson", "setup", dir}, Stderr: true})
	}
	p.add(
		Check{Kind: Build, Name: "meson compile", Command: []string{"meson", "compile", "-C", dir}, Stderr: true},
		Check{
			Kind: Test, Name: "meson test", Runner: "meson",
			Command:   []string{"meson", "test", "-C", dir, "--no-rebuild"},
			Reports:   []string{dir + "/meson-logs/testlog.junit.xml"},
			Inventory: []string{"meson", "test", "-C", dir, "--list"},
		},
	)
	return p
}

var buildFolders = []string{"build", "builddir", "_build", "cmake-build-debug", "out/build", "out"}

func buildFolder(f folder, p *proposal, mark string) string {
	for _, dir := range buildFolders {
		if f.has(dir+"/"+mark) != "" {
			return dir
		}
	}
	ignored := f.ignored()
	for _, dir := range buildFolders {
		if slices.Contains(ignored, strings.Split(dir, "/")[0]) {
			return dir
		}
	}
	if mark == "CMakeCache.txt" && !strings.Contains(f.read(".gitignore"), "build") { // Meson hides its folder from git
		p.note("the project is built in the folder build: add /build/ to .gitignore")
	}
	return "build"
}
