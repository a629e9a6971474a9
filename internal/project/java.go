package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/project/internal/checkout"
	"supervise/internal/regexp"
)

var gradleFiles = []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}

// Failing tests do not end the run: later modules would look deleted.
var mavenFlags = []string{"--batch-mode", "--no-transfer-progress", "-Dstyle.color=never", "-Dmaven.test.failure.ignore=true"}

// jvmTests are folders of tests of a project or its modules. A build below the root without
// any packages something else.
var jvmTests = []string{"src/test", "src/*Test", "*/src/test", "*/src/*Test", "*/*/src/test"}

// proposeMaven recognises a pom.xml, with the modules that it names.
func proposeMaven(f checkout.Folder) proposal {
	if f.First(gradleFiles...) != "" && !mavenFirst(f) || f.Dir != "" && f.First(jvmTests...) == "" {
		return proposal{} // both exist and Gradle is the one in use, or there are no tests
	}
	p := proposal{language: jvmLanguage(f)}
	maven := "mvn"
	if f.First("mvnw") != "" {
		maven = "./mvnw"
		p.tool("Maven wrapper", "mvnw")
	} else if !f.OnPath("mvn") {
		p.note("mvn is not on PATH: install Maven, or add its wrapper")
	}
	if f.First("gradlew") != "" && f.First("mvnw") == "" {
		p.note("Maven is used: the Gradle of gradlew is not installed. To use it instead, run ./gradlew once")
	}
	p.tool("Maven", "pom.xml")
	poms, modules := mavenModules(f, "")
	p.covers = func(dir string) bool { return slices.Contains(modules, dir) }
	run := func(words ...string) []string { return with(with([]string{maven}, mavenFlags...), words...) }
	test := Check{Kind: Test, Name: "maven", Runner: "maven", Command: run("test"), Reports: []string{"**/target/surefire-reports/TEST-*.xml"}}
	if strings.Contains(poms, "maven-failsafe-plugin") {
		p.tool("failsafe", "pom.xml")
		test.Command = run("verify")
		test.Reports = append(test.Reports, "**/target/failsafe-reports/TEST-*.xml")
	}
	if strings.Contains(poms, "jacoco-maven-plugin") {
		p.tool("JaCoCo", "pom.xml")
		test.Command = append(test.Command, "jacoco:report", "-Djacoco.haltOnFailure=false")
		if !jacocoFile.MatchString(poms) { // JaCoCo would keep the coverage of earlier runs in its file
			test.Command = append(test.Command, "-Djacoco.destFile="+ReportDir+"/.jacoco.exec", "-Djacoco.dataFile="+ReportDir+"/.jacoco.exec")
		}
		test.Coverage, test.Reports = true, append(test.Reports, "**/target/site/jacoco/jacoco.xml")
	} else {
		p.note("no coverage: add jacoco-maven-plugin with its goal prepare-agent to pom.xml")
		if slices.Contains(test.Command, "verify") {
			p.note("an iteration runs mvn test, and integration tests only if one changed or failed; they run at the baseline, before the criterion counts as met, and at the end. For every iteration give the command: --test-cmd 'mvn verify'")
		}
	}
	p.add(test)
	if strings.Contains(poms, "maven-checkstyle-plugin") {
		p.tool("checkstyle", "pom.xml")
		p.add(Check{Kind: Lint, Name: "checkstyle", Command: run("checkstyle:checkstyle"), Reports: []string{"**/target/checkstyle-result.xml"}})
	}
	return p
}

var jacocoFile = regexp.MustCompile(`<(destFile|dataFile)>|jacoco\.(destFile|dataFile)`)

var mavenModule = regexp.MustCompile(`<module>\s*([^<\s]+)\s*</module>`)

// mavenModules returns the text of a pom and of its modules' poms, and the folders of
// the modules.
func mavenModules(f checkout.Folder, dir string) (text string, modules []string) {
	text = xmlComment.ReplaceAllString(f.Read(checkout.Join(dir, "pom.xml")), "")
	if strings.Count(dir, "/") > 5 {
		return text, nil
	}
	for _, m := range mavenModule.FindAllStringSubmatch(text, -1) {
		module := checkout.Join(dir, m[1])
		if strings.HasPrefix(module, "..") || module == dir {
			continue
		}
		inner, below := mavenModules(f, module)
		text += inner
		modules = append(append(modules, module), below...)
	}
	return text, modules
}

var xmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)

// jvmLanguage is kotlin if all sources are.
func jvmLanguage(f checkout.Folder) string {
	if len(f.Search(1, "*.kt")) > 0 && len(f.Search(1, "*.java")) == 0 {
		return "kotlin"
	}
	return "java"
}

// mavenFirst reports whether Maven is used where there are files of both: the one with a
// wrapper, and Maven where Gradle's wrapper would have to be downloaded and mvn is there.
func mavenFirst(f checkout.Folder) bool {
	return f.First("mvnw") != "" || f.First("gradlew") == "" || !gradleInstalled(f) && f.OnPath("mvn")
}

var gradleDistribution = regexp.MustCompile(`(?m)^\s*distributionUrl\s*=.*/([^/\s]+)\.zip\s*$`)

// gradleInstalled reports whether the wrapper has its Gradle, or does not say which one.
func gradleInstalled(f checkout.Folder) bool {
	m := gradleDistribution.FindStringSubmatch(f.Read("gradle/wrapper/gradle-wrapper.properties"))
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
	whole, err := filepath.Glob(filepath.Join(home, "wrapper", "dists", m[1], "*", "*.ok")) // written when it is complete
	return err == nil && len(whole) > 0
}

// gradleInit makes JaCoCo write XML, whatever the project configures. Old versions of
// Gradle use another name for it.
const gradleInit = `gradle.projectsEvaluated {
    rootProject.allprojects.each { project ->
        project.tasks.matching { it.class.name.contains("JacocoReport") }.each { task ->
            def xml = task.reports.xml
            xml.metaClass.hasProperty(xml, "required") ? xml.required.set(true) : (xml.enabled = true)
        }
    }
}
`

// proposeGradle recognises a Gradle build, with its subprojects.
func proposeGradle(f checkout.Folder) proposal {
	if f.First("pom.xml") != "" && mavenFirst(f) || f.Dir != "" && f.First(jvmTests...) == "" {
		return proposal{}
	}
	p := proposal{language: jvmLanguage(f), covers: everything}
	gradle := "gradle"
	if f.First("gradlew") != "" {
		gradle = "./gradlew"
		p.tool("Gradle wrapper", "gradlew")
	} else if !f.OnPath("gradle") {
		p.note("gradle is not on PATH: install Gradle, or add its wrapper")
	}
	p.tool("Gradle", f.First(gradleFiles...))
	text := ""
	for _, file := range append(f.Search(100, "build.gradle", "build.gradle.kts", "*.gradle", "*.gradle.kts"), "gradle/libs.versions.toml") {
		text += f.Read(file)
	}
	run := func(words ...string) []string { // a daemon would outlive the check
		return with([]string{gradle, "--no-daemon", "--console=plain", "--continue", "--no-build-cache"}, words...)
	}
	test := Check{Kind: Test, Name: "gradle", Runner: "gradle", Reports: []string{"**/build/test-results/**/TEST-*.xml"}}
	switch {
	case gradleMulti.MatchString(text):
		test.Command = run("cleanAllTests", "allTests")
	case gradleJacoco.MatchString(text):
		p.tool("JaCoCo", f.First(gradleFiles...))
		test.Command = run("--init-script="+ReportDir+"/.jacoco.gradle", "cleanTest", "test", "jacocoTestReport")
		test.Files = map[string]string{".jacoco.gradle": gradleInit}
		test.Coverage, test.Reports = true, append(test.Reports, "**/build/reports/jacoco/test/*.xml")
	default:
		test.Command = run("cleanTest", "test")
		p.note("no coverage: add the plugin jacoco to %s", f.First(gradleFiles...))
	}
	p.add(test)
	if gradleCheckstyle.MatchString(text) {
		p.tool("checkstyle", f.First(gradleFiles...))
		p.add(Check{Kind: Lint, Name: "checkstyle", Command: run("checkstyleMain", "checkstyleTest"), Reports: []string{"**/build/reports/checkstyle/*.xml"}})
	}
	return p
}

var (
	gradleJacoco     = regexp.MustCompile("(?m)^[^/\n]*(id|apply plugin:)[\\s(]*['\"]jacoco['\"]|^\\s*`?jacoco`?\\s*$")
	gradleCheckstyle = regexp.MustCompile("(?m)^[^/\n]*(id|apply plugin:)[\\s(]*['\"]checkstyle['\"]|^\\s*`?checkstyle`?\\s*$")
	gradleMulti      = regexp.MustCompile(`kotlin\(\s*"multiplatform"|org\.jetbrains\.kotlin\.multiplatform`)
)
