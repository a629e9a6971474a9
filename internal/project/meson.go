package project

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

var meson = framework.Named("meson")

// proposeMeson recognizes a Meson project, which writes its report into the build
// folder.
func proposeMeson(f projectfs.Folder) proposal {
	if f.First("CMakeLists.txt") != "" && !(f.OnPath("meson") && findCMakeLists(f).hasMesonTests()) {
		return proposal{}
	}
	p := proposal{language: "c++", covers: coversEverything}
	p.require(f, "meson", "pip install meson ninja")
	p.addTool("Meson", "meson.build")
	dir := chooseBuildFolder(f, &p, "meson-private/coredata.dat")
	if f.First(dir+"/meson-private/coredata.dat") == "" {
		p.add(Check{Kind: Build, Name: "meson setup", Command: append([]string{"meson", "setup", dir}, mesonTestOptions(f)...), Stderr: true})
	}
	test := rowCheck(meson, "meson", "test", "-C", dir, "--no-rebuild")
	test.Name, test.Reports[0] = "meson test", dir+"/"+test.Reports[0]
	p.add(Check{Kind: Build, Name: "meson compile", Command: []string{"meson", "compile", "-C", dir}, Stderr: true}, test)
	return p
}

// mesonTestOptions returns the arguments of meson setup that switch on tests that are off by
// default, such as -Dtests=true.
func mesonTestOptions(f projectfs.Folder) (out []string) {
	for _, m := range mesonSwitchPattern.FindAllStringSubmatch(cmakeCommentPattern.ReplaceAllString(f.Read(f.First("meson.options", "meson_options.txt")), ""), -1) {
		out = append(out, "-D"+m[1]+"="+map[string]string{"boolean": "true", "feature": "enabled"}[m[2]])
	}
	return out
}

// mesonSwitchPattern matches an option that leaves the tests out by default, and captures its name
// and type: option('tests', type: 'boolean', value: false).
//
// https://mesonbuild.com/Build-options.html
var mesonSwitchPattern = regexp.MustCompile(`(?m)^option\s*\(\s*'((?:(?:build|enable|with)[_-])?(?:unit_?)?test(?:s|ing)?)'\s*,\s*type\s*:\s*'(boolean|feature)'\s*,\s*value\s*:\s*(?:false|'(?:disabled|false)')`)

// hasMesonTests reports whether only the build files of Meson have tests, in a project that has
// build files for both Meson and CMake.
func (l cmakeLists) hasMesonTests() bool {
	if l.FirstMatching(mesonTestPattern, l.Search(100, "meson.build")...) == "" {
		return false
	}
	known, programs := l.testFiles()
	return known+programs == "" && len(l.separate) == 0
}

// mesonTestPattern matches the registration of a test: test('unit', exe).
var mesonTestPattern = regexp.MustCompile(`(?m)^\s*test\s*\(`)

// buildFolders are common names of build folders, most common first.
var buildFolders = []string{"build", "builddir", "_build", "cmake-build-debug", "out/build", "out"}

// chooseBuildFolder returns the build folder for CMake or Meson: one that has the file mark and so
// is in use, else one that git ignores, else "build".
func chooseBuildFolder(f projectfs.Folder, p *proposal, mark string) string {
	for _, dir := range buildFolders {
		if f.First(dir+"/"+mark) != "" {
			return dir
		}
	}
	ignored := f.Ignored()
	for _, dir := range buildFolders {
		if slices.Contains(ignored, strings.Split(dir, "/")[0]) {
			return dir
		}
	}
	if mark == "CMakeCache.txt" && !strings.Contains(f.Read(".gitignore"), "build") { // Meson hides its folder from git
		p.note("the project is built in the folder build: add /build/ to .gitignore")
	}
	return "build"
}
