package framework

// dotnet are the rows of the frameworks of .NET. [Framework] explains the fields of a row, and
// [Options] the notation of the options.
var dotnet = []Framework{
	{
		Name: "dotnet", Language: "dotnet", Programs: []string{"dotnet test"}, Packages: split("Microsoft.NET.Test.Sdk"),
		ConfigFiles: split("*.runsettings"), Operands: Projects,
		Options: Options{
			Focus:     "--filter= --treenode-filter= --filter-class= --filter-method= --filter-namespace= --filter-trait= --filter-uid= --test-modules=",
			Exclude:   "--filter-not-class= --filter-not-method= --filter-not-namespace= --filter-not-trait= --skip= --exclude=",
			StopEarly: "--maximum-failed-tests= --stop-on-fail=on", RunNone: "-t --list-tests",
			Loosen: "--retry-failed-tests= --retry-failed-tests-max-percentage= --timeout=",
			Mask:   "--ignore-exit-code=", HideCode: "-p:Exclude=* /p:Exclude=* --collect=none",
			Config:  "-s= --settings= --config-file= -c= --configuration= --test-adapter-path= --no-build",
			Neutral: "-l= --logger= -r= --runtime= --results-directory= -v= --verbosity= -d= --diag= -e= --environment= --collect= -f= --framework= -a= --arch=",
			Update:  none,
		},
		Rerun: Rerun{
			Way: ByWords, Programs: split("dotnet"), Own: split("--filter --report-trx"), Place: BeforeWord, Word: "--",
			Words: func(s Selection) []string { return []string{"--filter", s.joinNames("|", dotnetName)} },
		},
		Report:   Output{Format: "trx", Args: split("--logger=trx --results-directory={{report_dir}}/.results"), Files: split("{{report_dir}}/.results/**/*.trx")},
		Coverage: Output{Format: "cobertura", Args: []string{"--collect=XPlat Code Coverage"}, Files: split("{{report_dir}}/.results/**/coverage.cobertura.xml"), Needs: split("coverlet.collector")},
		Mutants:  Environment, Marks: split("testhost VSTEST_HOST_DEBUG"),
		Unsupported: map[Capability]string{Lists: "its list has display names only", Affects: "has no such option"},
	},
	{
		Name: "vstest", Language: "dotnet", Programs: []string{"vstest.console", "nunit3-console", "xunit.console"}, ConfigFiles: split("nunit.config xunit.runner.json"),
		Options: Options{
			Focus:   "/Tests= --Tests= /TestCaseFilter= --TestCaseFilter= --test= --where= -class= -method= -trait= -namespace= --testlist=",
			Exclude: "-notrait= -noclass= -nomethod= -nonamespace=", StopEarly: "--stoponerror -stoponfail",
			RunNone: "/ListTests /lt --ListTests --explore", Loosen: "--timeout=",
			Config: "/Settings= --Settings= --config= --params=", Update: none, Mask: none, HideCode: none,
		},
	},
}
