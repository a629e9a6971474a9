package project

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/ctestcases"
	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

// cmakeLists are the build files of a CMake project.
type cmakeLists struct {
	projectfs.Folder
	names    []string
	separate []string // folders with tests that are a separate project: "tests"
}

// testFolderPattern matches the name of a folder with tests: test, tests, unit-tests, unittesting.
var testFolderPattern = regexp.MustCompile(`(?i)^(unit[-_]?)?tests?$|^unittesting$`)

// findCMakeLists finds the build files of the project in a folder, without those of projects
// in folders below that no other build file adds.
func findCMakeLists(f projectfs.Folder) cmakeLists {
	l := cmakeLists{Folder: f, names: append([]string{"CMakeLists.txt"}, f.Search(200, "CMakeLists.txt")...)}
	others := projectfs.Unique(append(l.names, f.Search(200, "*.cmake")...))
	for _, name := range l.names {
		dir := path.Dir(name)
		inside := func(other string) bool { return strings.HasPrefix(other, dir+"/") }
		if dir == "." || !slices.Contains(l.names, name) || !cmakeProjectPattern.MatchString(readUncommented(f, name)) {
			continue
		}
		if slices.ContainsFunc(others, func(other string) bool { return !inside(other) && addsFolder(f, other, dir) }) {
			continue
		}
		l.names = slices.DeleteFunc(slices.Clone(l.names), inside)
		if testFolderPattern.MatchString(path.Base(dir)) && !wantsInstalled(f, name) {
			l.separate = append(l.separate, dir)
		}
	}
	return l
}

// wantsInstalled reports whether a build file looks for the installed project by find_package, so
// that it is an example for users and not a part of the tests.
func wantsInstalled(f projectfs.Folder, file string) bool {
	text := readUncommented(f, file)
	return !cmakeAbovePattern.MatchString(text) && slices.ContainsFunc(cmakeFindPattern.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return strings.EqualFold(m[1], cmakeProjectName(f))
	})
}

// cmakeProjectName returns the name of the project, "" if there is none or if it is a variable.
func cmakeProjectName(f projectfs.Folder) string {
	return firstGroup(cmakeProjectPattern, readUncommented(f, "CMakeLists.txt"))
}

// These expressions match commands of CMake:
//
//   - cmakeEnablesPattern: enable_testing() or include(CTest).
//   - cmakeLeftOutPattern: add_executable(unit EXCLUDE_FROM_ALL unit.cpp), and a folder of tests in
//     add_subdirectory(tests EXCLUDE_FROM_ALL).
//   - cmakeProjectPattern captures the name in project(shop VERSION 1.2).
//   - cmakeFindPattern captures the name in find_package(Boost REQUIRED).
//   - cmakeAbovePattern: add_subdirectory(.. build), which includes the folder above.
//   - cmakeSubdirPattern captures the arguments of add_subdirectory(src) and of macros such as
//     subdirs(src tests).
var (
	cmakeEnablesPattern = regexp.MustCompile(`(?mi)^\s*(enable_testing|include\s*\(\s*CTest\s*\))`)
	// cmakeLeftOutPattern matches programs that the default target does not build.
	cmakeLeftOutPattern = regexp.MustCompile(`(?i)\b(add_executable|set_(target_)?propert\w+)\s*\([^)]*\bEXCLUDE_FROM_ALL\b|\badd_subdirectory\s*\([^)]*test[^)]*\bEXCLUDE_FROM_ALL\b`)
	cmakeProjectPattern = regexp.MustCompile(`(?mi)^\s*project\s*\(\s*"?([\w.+-]*)`)
	cmakeFindPattern    = regexp.MustCompile(`(?i)\bfind_package\s*\(\s*([\w.+-]+)`)
	cmakeAbovePattern   = regexp.MustCompile(`(?i)\badd_subdirectory\s*\([^)]*\.\.`)
	cmakeSubdirPattern  = regexp.MustCompile(`(?i)\b(?:add_)?subdir\w*\s*\(([^)]*)\)`)
)

// addsFolder reports whether a build file adds the folder, or may do so with a variable.
func addsFolder(f projectfs.Folder, file, dir string) bool {
	for _, m := range cmakeSubdirPattern.FindAllStringSubmatch(readUncommented(f, file), -1) {
		for _, word := range strings.Fields(m[1]) {
			parent, last := path.Split(strings.Trim(word, `"`))
			parent = projectfs.Join(path.Dir(file), knownDirPattern.ReplaceAllString(parent, ""))
			switch variable := strings.Contains(last, "${") && !knownDirPattern.MatchString(last+"/"); {
			case last == path.Base(dir):
				return true
			case variable && (parent == path.Dir(dir) || strings.Contains(parent, "${")):
				return true
			}
		}
	}
	return false
}

// knownDirPattern matches a variable for a folder at the start of a path, such as
// ${CMAKE_CURRENT_SOURCE_DIR}/.
var knownDirPattern = regexp.MustCompile(`^\$\{\w+_DIR\}/`)

// readUncommented returns the text of a build file without its comments, "" if there is no file.
func readUncommented(f projectfs.Folder, name string) string {
	return cmakeCommentPattern.ReplaceAllString(f.Read(name), "")
}

// firstFile returns the first of the build files whose text without comments matches, or "".
func (l cmakeLists) firstFile(re *regexp.Regexp) string {
	for _, name := range l.names {
		if re.MatchString(readUncommented(l.Folder, name)) {
			return name
		}
	}
	return ""
}

var ctest = framework.Named("ctest")

// covers reports whether the project includes another CMake project below it.
func (l cmakeLists) covers(dir string) bool { return !slices.Contains(l.separate, dir) }

// addCTest adds the check of the tests that ctest knows, and of programs with test cases that it
// does not know. It adds none if the build files have neither. dir is the build folder.
func (l cmakeLists) addCTest(p *proposal, dir string) {
	tests := l.testDir(dir)
	c := rowCheck(ctest, "ctest", "--test-dir", tests)
	c.Inventory = withWords([]string{"ctest", "--test-dir", tests}, ctest.List.Args...)
	known, programs := l.testFiles()
	if programs != "" {
		c.Command[2], c.Files = ReportDir+"/"+ctestcases.Folder, ctestcases.Files(dir, tests)
	}

	switch {
	case known != "":
		p.addTool("ctest", known)
		if l.FirstMatching(cmakeLeftOutPattern, append(l.names, l.Search(200, "*.cmake")...)...) != "" {
			p.add(Check{
				Kind: Build, Name: "cmake --build for ctest", Stderr: true, Files: ctestcases.BuildFiles(),
				Command: []string{"cmake", "-DBUILD=" + dir, "-DTESTS=" + tests, "-P", ReportDir + "/" + ctestcases.BuildScript},
			})
		}
	case programs != "":
		p.addTool("programs with test cases", programs)
	case len(l.separate) == 0:
		p.untested = "call enable_testing() and add_test() in CMakeLists.txt"
		return
	default:
		return
	}
	p.add(c)
}

// testDir returns the folder in which ctest finds the tests, normally the build folder. If only
// the build file of a test folder enables tests, CMake writes the list of tests into the
// subfolder of that name, and none into the build folder.
func (l cmakeLists) testDir(build string) string {
	var in []string
	for _, name := range projectfs.Unique(append(l.names, l.Search(200, "*.cmake")...)) {
		if cmakeEnablesPattern.MatchString(readUncommented(l.Folder, name)) {
			in = append(in, name)
		}
	}
	if len(in) != 1 || path.Base(in[0]) != "CMakeLists.txt" || !testFolderPattern.MatchString(path.Base(path.Dir(in[0]))) {
		return build
	}
	return projectfs.Join(build, path.Dir(in[0]))
}

// testFiles returns the build file that registers tests with ctest, and the file that shows that
// there are programs of a known framework. Each is "" if there is none.
func (l cmakeLists) testFiles() (known, programs string) {
	known = l.firstFile(cmakeTestsPattern)
	if known != "" || l.firstFile(cmakeProgramPattern) != "" {
		programs = l.programsFile()
	}
	return known, programs
}

var (
	// cmakeFrameworkPattern matches frameworks whose programs have test cases.
	cmakeFrameworkPattern = regexp.MustCompile(framework.NativeLibrary)
	// cmakeProgramPattern matches add_executable(…), and macros such as my_test(…).
	cmakeProgramPattern = regexp.MustCompile(`(?mi)^\s*\w*(add_executable|test\w*)\s*\(`)
	testIncludePattern  = regexp.MustCompile(framework.NativeInclude)
	testSourcePattern   = regexp.MustCompile(`(?i)test|spec`)
)

// programsFile returns the file that shows that there are programs of a known framework: a build
// file that names the framework, or a source of tests that includes it. It is "" if none does.
func (l cmakeLists) programsFile() string {
	if file := l.firstFile(cmakeFrameworkPattern); file != "" {
		return file
	}
	var text strings.Builder
	for _, name := range l.names {
		text.WriteString(readUncommented(l.Folder, name))
	}
	sources := slices.DeleteFunc(l.Search(1000, "*.cpp", "*.cc", "*.cxx", "*.hpp", "*.h"), func(name string) bool {
		return !testSourcePattern.MatchString(name) || !l.mayCompile(text.String(), name)
	})
	return l.FirstMatching(testIncludePattern, sources[:min(len(sources), maxSources)]...)
}

// mayCompile reports whether the build files may compile a source: they name it or its folder, or
// one of them is in its folder. text is the text of all of them.
func (l cmakeLists) mayCompile(text, source string) bool {
	top, _, below := strings.Cut(source, "/")
	return strings.Contains(text, path.Base(source)) || below && strings.Contains(text, top+"/") ||
		slices.ContainsFunc(l.names, func(name string) bool { return path.Dir(name) != "." && strings.HasPrefix(source, path.Dir(name)+"/") })
}

// maxSources bounds the sources of tests that are read for their includes.
const maxSources = 60
