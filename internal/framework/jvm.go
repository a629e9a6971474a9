package framework

// Maven and Gradle run JUnit, TestNG, Spock and Kotest.
var jvm = []Framework{
	{
		Name: "maven", Language: "java", ConfigFiles: list("pom.xml"),
		Programs: []string{"mvn test", "mvn verify", "mvn integration-test", "mvn install", "mvn package", "mvnd test", "mvnd verify", "mvnd install"},
		Options: Options{
			Focus:     "-Dtest= -Dit.test= -Dgroups= -pl= --projects= -rf= --resume-from= -Dsurefire.includesFile= -Dfailsafe.includesFile= -Dinclude= -Dincludes= -Dcucumber.filter.tags=",
			Exclude:   "-Dsurefire.excludes= -DexcludedGroups= -Dsurefire.excludesFile= -Dfailsafe.excludes= -Dfailsafe.excludesFile= -N --non-recursive",
			StopEarly: "-Dsurefire.skipAfterFailureCount= -Dfailsafe.skipAfterFailureCount=",
			RunNone:   "-DskipTests -DskipTests=true -Dmaven.test.skip -Dmaven.test.skip=true -Dmaven.test.skip.exec=true -DskipITs -DskipITs=true -DskipUnitTests=true -DskipUTs=true --skip-tests",
			Update:    None,
			Loosen:    "-Dsurefire.rerunFailingTestsCount= -Dfailsafe.rerunFailingTestsCount= -Dsurefire.timeout= -Dfailsafe.timeout=",
			Mask:      "-fn --fail-never -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true -DtestFailureIgnore=true",
			HideCode:  "-Djacoco.skip=true -Djacoco.excludes=",
			Config:    "-f= --file= -P= --activate-profiles= -s= --settings= -gs= --global-settings= -t= --toolchains= -Dsurefire.suiteXmlFiles=",
			Neutral:   "-T= --threads= -l= --log-file= -b= --builder= --color=",
		},
	},
	{
		Name: "gradle", Language: "java", ConfigFiles: list("build.gradle build.gradle.kts settings.gradle settings.gradle.kts"),
		Programs: []string{"gradle test", "gradle check", "gradle build", "gradle integrationTest", "gradle allTests", "gradle connectedCheck"},
		Options: Options{
			Focus:     "--tests= -Dtest.single=",
			Exclude:   "-x= --exclude-task=",
			StopEarly: "--fail-fast",
			RunNone:   "-n -m --just-print --dry-run --test-dry-run tasks",
			Update:    None,
			Loosen:    None,
			Mask:      None,
			HideCode:  None,
			Config:    "-I= --init-script= -c= --settings-file= -b= --build-file= --include-build=",
			Neutral:   "-p= --project-dir= --console= --max-workers= --warning-mode= -g= --gradle-user-home= --project-cache-dir=",
		},
	},
	{
		Name: "sbt", Language: "java", ConfigFiles: list("build.sbt"), Programs: []string{"sbt test", "sbt testOnly", "sbt testQuick"},
		Options: Options{
			Focus:     "testOnly testQuick -z= -n= --only=",
			Exclude:   "-l=",
			StopEarly: None,
			RunNone:   "compile",
			Update:    None,
			Loosen:    None,
			Mask:      None,
			HideCode:  None,
			Config:    "--sbt-version=",
		},
		Unsupported: callsOnly(),
	},
	{
		Name: "karate", Language: "java", Programs: []string{"karate"},
		Options: Options{
			Focus:     "-t= --tags= -n= --name=",
			Exclude:   None,
			StopEarly: "--abort-suite-on-failure",
			RunNone:   "-D --dryrun",
			Update:    None,
			Loosen:    None,
			Mask:      None,
			HideCode:  None,
			Config:    "-e= --env= -g= --configdir=",
			Neutral:   "-T= --threads= -o= --output= -f= --format=",
		},
		Unsupported: callsOnly(Detect),
	},
}
