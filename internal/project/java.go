package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

var (
	maven  = framework.Named("maven")
	gradle = framework.Named("gradle")
)

// jvmTestFolders are folders of tests of a project or its modules. A build below the root that has
// none is for packaging or the like.
var jvmTestFolders = []string{"src/test", "src/*Test", "*/src/test", "*/src/*Test", "*/*/src/test"}

// proposeMaven recognizes a pom.xml, with the modules that it names.
func proposeMaven(f projectfs.Folder) proposal {
	if f.First(gradle.ConfigFiles...) != "" && !usesMaven(f) || f.Dir != "" && f.First(jvmTestFolders...) == "" {
		return proposal{} // both exist and Gradle is the one in use, or there are no tests
	}

	p := proposal{language: languageOf(f)}
	program := wrapperOf(f, &p, "mvn", "Maven")
	if f.First("gradlew") != "" && f.First("mvnw") == "" {
		p.note("Maven is used: the Gradle of gradlew is not installed. To use it instead, run ./gradlew once")
	}
	p.addTool("Maven", "pom.xml")
	poms, modules := mavenModules(f, "")
	p.covers = func(dir string) bool { return slices.Contains(modules, dir) }
	// Failing tests do not end the run, since the tests of later modules would look deleted.
	run := rowCheck(maven, program, "--batch-mode", "--no-transfer-progress", "-Dstyle.color=never")
	test := run
	test.Command, test.Reports = withWords(run.Command, "test"), run.Reports[:1:1]
	if strings.Contains(poms, "maven-failsafe-plugin") {
		p.addTool("failsafe", "pom.xml")
		test.Command, test.Reports = withWords(run.Command, "verify"), run.Reports
	}
	if strings.Contains(poms, "jacoco-maven-plugin") {
		p.addTool("JaCoCo", "pom.xml")
		test.cover(maven)
		if !jacocoFilePattern.MatchString(poms) { // JaCoCo would keep the coverage of earlier runs in its file
			test.Command = append(test.Command, "-Djacoco.destFile="+ReportDir+"/.jacoco.exec", "-Djacoco.dataFile="+ReportDir+"/.jacoco.exec")
		}
	} else {
		p.note("no coverage: add jacoco-maven-plugin with its goal prepare-agent to pom.xml")
		if slices.Contains(test.Command, "verify") {
			p.note("an iteration runs mvn test, and integration tests only if one changed or failed; they run at the baseline, before the criterion counts as met, and at the end. For every iteration give the command: --test-cmd 'mvn verify'")
		}
	}

	p.add(test)
	if strings.Contains(poms, "maven-checkstyle-plugin") {
		p.addTool("checkstyle", "pom.xml")
		p.add(Check{Kind: Lint, Name: "checkstyle", Command: withWords(run.Command, "checkstyle:checkstyle"), Reports: []string{"**/target/checkstyle-result.xml"}})
	}
	return p
}

// jacocoFilePattern matches a setting for the file in which JaCoCo collects coverage: <destFile>,
// or the property jacoco.dataFile.
var jacocoFilePattern = regexp.MustCompile(`<(destFile|dataFile)>|jacoco\.(destFile|dataFile)`)

// mavenModulePattern captures the folder in <module>core</module>.
var mavenModulePattern = regexp.MustCompile(`<module>\s*([^<\s]+)\s*</module>`)

// mavenModules returns the text of the pom.xml in dir and of those of its modules, and the folders
// of the modules, at any depth.
func mavenModules(f projectfs.Folder, dir string) (text string, modules []string) {
	text = xmlCommentPattern.ReplaceAllString(f.Read(projectfs.Join(dir, "pom.xml")), "")
	if strings.Count(dir, "/") > 5 {
		return text, nil
	}
	for _, m := range mavenModulePattern.FindAllStringSubmatch(text, -1) {
		module := projectfs.Join(dir, m[1])
		if strings.HasPrefix(module, "..") || module == dir {
			continue
		}
		inner, below := mavenModules(f, module)
		text += inner
		modules = append(append(modules, module), below...)
	}
	return text, modules
}

// xmlCommentPattern matches a comment in XML.
var xmlCommentPattern = regexp.MustCompile(`(?s)<!--.*?-->`)

// languageOf returns "kotlin" if there are sources of Kotlin and none of Java, else "java".
func languageOf(f projectfs.Folder) string {
	if len(f.Search(1, "*.kt")) > 0 && len(f.Search(1, "*.java")) == 0 {
		return "kotlin"
	}
	return "java"
}

// wrapperOf returns the project's wrapper of a build tool, such as ./mvnw, else the program itself.
func wrapperOf(f projectfs.Folder, p *proposal, program, tool string) string {
	if wrapper := program + "w"; f.First(wrapper) != "" {
		p.addTool(tool+" wrapper", wrapper)
		return "./" + wrapper
	}
	p.require(f, program, "install "+tool+", or add its wrapper")
	return program
}

// usesMaven reports whether Maven, and not Gradle, is used in a project with files of both. It is
// the one with a wrapper. If only Gradle has one, Maven is still used if mvn is installed and the
// wrapper would have to download Gradle.
func usesMaven(f projectfs.Folder) bool {
	return f.First("mvnw") != "" || f.First("gradlew") == "" || !gradleInstalled(f) && f.OnPath("mvn")
}

// gradleDistributionPattern captures the name of the distribution: gradle-8.5-bin of
// "distributionUrl=https\://services.gradle.org/distributions/gradle-8.5-bin.zip".
var gradleDistributionPattern = regexp.MustCompile(`(?m)^\s*distributionUrl\s*=.*/([^/\s]+)\.zip\s*$`)

// gradleInstalled reports whether the wrapper has downloaded its Gradle, or does not name a version.
func gradleInstalled(f projectfs.Folder) bool {
	m := gradleDistributionPattern.FindStringSubmatch(f.Read("gradle/wrapper/gradle-wrapper.properties"))
	if m == nil {
		return true
	}
	home := os.Getenv("GRADLE_USER_HOME")
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		home = filepath.Join(user, ".gradle")
	}
	complete, err := filepath.Glob(filepath.Join(home, "wrapper", "dists", m[1], "*", "*.ok")) // written when it is complete
	return err == nil && len(complete) > 0
}

// gradleInitScript has JaCoCo write XML. Old versions of Gradle have another name for the property.
const gradleInitScript = `gradle.projectsEvaluated {
    rootProject.allprojects.each { project ->
        project.tasks.matching { it.class.name.contains("JacocoReport") }.each { task ->
            def xml = task.reports.xml
            xml.metaClass.hasProperty(xml, "required") ? xml.required.set(true) : (xml.enabled = true)
        }
    }
}
`

// proposeGradle recognizes a Gradle build, with its subprojects.
func proposeGradle(f projectfs.Folder) proposal {
	if f.First("pom.xml") != "" && usesMaven(f) || f.Dir != "" && f.First(jvmTestFolders...) == "" {
		return proposal{}
	}

	p := proposal{language: languageOf(f), covers: coversEverything}
	program := wrapperOf(f, &p, "gradle", "Gradle")
	p.addTool("Gradle", f.First(gradle.ConfigFiles...))
	text := ""
	for _, file := range append(f.Search(100, "build.gradle", "build.gradle.kts", "*.gradle", "*.gradle.kts"), "gradle/libs.versions.toml") {
		text += f.Read(file)
	}

	run := func(words ...string) []string { // a daemon would outlive the check
		return slices.Concat([]string{program, "--no-daemon", "--console=plain"}, gradle.Report.Args, []string{"--no-build-cache"}, words)
	}
	test := rowCheck(gradle)
	switch {
	case gradleMultiPattern.MatchString(text):
		test.Command = run("cleanAllTests", "allTests")
	case gradleJacocoPattern.MatchString(text):
		p.addTool("JaCoCo", f.First(gradle.ConfigFiles...))
		test.Command = run("--init-script="+ReportDir+"/.jacoco.gradle", "cleanTest", "test")
		test.Files = map[string]string{".jacoco.gradle": gradleInitScript}
		test.cover(gradle)
	default:
		test.Command = run("cleanTest", "test")
		p.note("no coverage: add the plugin jacoco to %s", f.First(gradle.ConfigFiles...))
	}
	p.add(test)
	if gradleCheckstylePattern.MatchString(text) {
		p.addTool("checkstyle", f.First(gradle.ConfigFiles...))
		p.add(Check{Kind: Lint, Name: "checkstyle", Command: run("checkstyleMain", "checkstyleTest"), Reports: []string{"**/build/reports/checkstyle/*.xml"}})
	}
	return p
}

// gradleMultiPattern matches the plugin of Kotlin Multiplatform, which has a test task per target.
var (
	gradleJacocoPattern     = gradlePluginPattern("jacoco")
	gradleCheckstylePattern = gradlePluginPattern("checkstyle")
	gradleMultiPattern      = regexp.MustCompile(`kotlin\(\s*"multiplatform"|org\.jetbrains\.kotlin\.multiplatform`)
)

// gradlePluginPattern returns an expression for build files that apply the plugin: id("jacoco"),
// apply plugin: 'jacoco', or its bare name on a line.
func gradlePluginPattern(name string) *regexp.Regexp {
	return regexp.MustCompile("(?m)^[^/\n]*(id|apply plugin:)[\\s(]*['\"]" + name + "['\"]|^\\s*`?" + name + "`?\\s*$")
}
