package framework

// jvm are the rows of the build tools of Java, Kotlin and Scala. Maven and Gradle run JUnit,
// TestNG, Spock and Kotest. [Framework] explains the fields of a row, and [Options] the notation of
// the options.
var jvm = []Framework{
	{
		Name: "maven", Language: "java", ConfigFiles: split("pom.xml"),
		Programs: []string{"mvn test", "mvn verify", "mvn integration-test", "mvn install", "mvn package", "mvnd test", "mvnd verify", "mvnd install"},
		Options: Options{
			Focus:     "-Dtest= -Dit.test= -Dgroups= -pl= --projects= -rf= --resume-from= -Dsurefire.includesFile= -Dfailsafe.includesFile= -Dinclude= -Dincludes= -Dcucumber.filter.tags=",
			Exclude:   "-Dsurefire.excludes= -DexcludedGroups= -Dsurefire.excludesFile= -Dfailsafe.excludes= -Dfailsafe.excludesFile= -N --non-recursive",
			StopEarly: "-Dsurefire.skipAfterFailureCount= -Dfailsafe.skipAfterFailureCount=",
			RunNone:   "-DskipTests -DskipTests=true -Dmaven.test.skip -Dmaven.test.skip=true -Dmaven.test.skip.exec=true -DskipITs -DskipITs=true -DskipUnitTests=true -DskipUTs=true --skip-tests",
			Loosen:    "-Dsurefire.rerunFailingTestsCount= -Dfailsafe.rerunFailingTestsCount= -Dsurefire.timeout= -Dfailsafe.timeout=",
			Mask:      "-fn --fail-never -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true -DtestFailureIgnore=true",
			HideCode:  "-Djacoco.skip=true -Djacoco.excludes=",
			Config:    "-f= --file= -P= --activate-profiles= -s= --settings= -gs= --global-settings= -t= --toolchains= -Dsurefire.suiteXmlFiles=",
			Neutral:   "-T= --threads= -l= --log-file= -b= --builder= --color=", Update: none,
		},
		Rerun:    Rerun{Way: ByWords, Programs: split("mvn mvnw mvnd"), Own: split("-Dtest -Dit.test"), Words: mavenFilter},
		Report:   Output{Format: "junit", Args: split("-Dmaven.test.failure.ignore=true"), Files: split("**/target/surefire-reports/TEST-*.xml **/target/failsafe-reports/TEST-*.xml")},
		Coverage: Output{Format: "jacoco", Args: split("jacoco:report -Djacoco.haltOnFailure=false"), Files: split("**/target/site/jacoco/jacoco.xml"), Needs: split("jacoco-maven-plugin")},
		Mutants:  Environment, Marks: split("surefire.test.class.path surefire.real.class.path"),
		Placeholders: junitPlaceholders,
		Unsupported:  map[Capability]string{Lists: "lists no tests", Affects: "by module only: -amd"},
	},
	{
		Name: "gradle", Language: "java", ConfigFiles: split("build.gradle build.gradle.kts settings.gradle settings.gradle.kts"),
		Programs: []string{"gradle test", "gradle check", "gradle build", "gradle integrationTest", "gradle allTests", "gradle connectedCheck"},
		Options: Options{
			Focus: "--tests= -Dtest.single=", Exclude: "-x= --exclude-task=", StopEarly: "--fail-fast",
			RunNone: "-n -m --just-print --dry-run --test-dry-run tasks",
			Config:  "-I= --init-script= -c= --settings-file= -b= --build-file= --include-build=",
			Neutral: "-p= --project-dir= --console= --max-workers= --warning-mode= -g= --gradle-user-home= --project-cache-dir=",
			Update:  none, Loosen: none, Mask: none, HideCode: none,
		},
		Rerun:    Rerun{Way: ByInitScript, Programs: split("gradle gradlew"), Own: split("--tests")},
		Report:   Output{Format: "junit", Args: split("--continue"), Files: split("**/build/test-results/**/TEST-*.xml")},
		Coverage: Output{Format: "jacoco", Args: split("jacocoTestReport"), Files: split("**/build/reports/jacoco/test/*.xml"), Needs: split("jacoco")},
		Mutants:  Environment, Marks: split("org.gradle.test.worker"),
		Placeholders: []Placeholder{{Class: `^Gradle Test Executor \d+$`, StopsRun: true}},
		Unsupported:  map[Capability]string{Lists: "its dry run writes no names of cases", Affects: "tasks whose inputs changed run anyway"},
	},
	{
		Name: "sbt", Language: "java", ConfigFiles: split("build.sbt"), Programs: []string{"sbt test", "sbt testOnly", "sbt testQuick"},
		Options: Options{
			Focus: "testOnly testQuick -z= -n= --only=", Exclude: "-l=", RunNone: "compile",
			Config: "--sbt-version=", StopEarly: none, Update: none, Loosen: none, Mask: none, HideCode: none,
		},
	},
	{
		Name: "karate", Language: "java", Programs: []string{"karate"},
		Options: Options{
			Focus: "-t= --tags= -n= --name=", StopEarly: "--abort-suite-on-failure", RunNone: "-D --dryrun",
			Config: "-e= --env= -g= --configdir=", Neutral: "-T= --threads= -o= --output= -f= --format=",
			Exclude: none, Update: none, Loosen: none, Mask: none, HideCode: none,
		},
	},
}
