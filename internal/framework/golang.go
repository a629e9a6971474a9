package framework

// golang are the rows of the frameworks of Go. [Framework] explains the fields of a row, and
// [Options] the notation of the options.
var golang = []Framework{
	{
		Name: "go", Language: "go", Programs: []string{"go test"},
		ConfigFiles: split("go.mod go.work"), Style: OneDash, Operands: Packages,
		Options: Options{
			Focus: "-run=", Exclude: "-skip= -short", StopEarly: "-failfast",
			RunNone: "-list= -exec= -c -n -count=0", Update: "-update[=] -u --update-goldens --update-golden",
			HideCode: "--no-cov --exclude-files= --omit=", Config: "-modfile= -overlay= -tags= -mod=",
			Neutral: "-bench= -benchtime= -blockprofile= -blockprofilerate= -count= -covermode= -coverpkg= -coverprofile= -cpu= -cpuprofile= -fuzz= -fuzztime= -fuzzminimizetime= " +
				"-memprofile= -memprofilerate= -mutexprofile= -mutexprofilefraction= -outputdir= -parallel= -shuffle= -timeout= -trace= -vet= -p= -o= -C= -gcflags= -ldflags= -asmflags= -toolexec= -pkgdir=",
			Loosen: none, Mask: none,
		},
		Rerun: Rerun{Way: ByPackage}, List: List{Args: split("-list ."), Format: GoList},
		Report:   Output{Format: "go-test-json", Args: split("-json")},
		Coverage: Output{Format: "go", Args: split("-coverprofile={{report_dir}}/cover.out"), Files: split("{{report_dir}}/cover.out")},
		Mutants:  Environment, Marks: split("testing.Testing -test. _test.go"), Conceal: GoOverlay,
		Placeholders: []Placeholder{{Name: `^\[(build|setup) failed\]$`}, {Name: `^TestMain$`, Message: `^Failed\b`}, {Name: `^Failure$`, Message: `^Runtime error`}},
		Unsupported:  map[Capability]string{Affects: "go list names the packages that import what changed"},
	},
	{
		Name: "gotestsum", Like: "go", Programs: []string{"gotestsum"}, Packages: split("gotest.tools/gotestsum"),
		Options: Options{
			StopEarly: "-failfast -max-fails=",
			Loosen:    "-rerun-fails[=] -rerun-fails-max-failures= -rerun-fails-max-attempts=",
			Neutral:   "-format= -junitfile= -jsonfile= -jsonfile-timing-events= -post-run-command= -junitfile-project-name= -junitfile-testcase-classname= -junitfile-testsuite-name= -format-icons= -packages= -coverprofile= -count= -timeout=",
		},
	},
	{
		Name: "ginkgo", Language: "go", Programs: []string{"ginkgo"}, Packages: split("github.com/onsi/ginkgo github.com/onsi/ginkgo/v2"), Style: OneDash,
		Options: Options{
			Focus:   "-run= -focus= -focus-file= -label-filter= -sem-ver-filter=",
			Exclude: "-skip= -short -skip-file= -skip-package=", StopEarly: "-fail-fast",
			RunNone: "-dry-run -n", Update: "-update[=] -u", Loosen: "-flake-attempts= -poll-progress-after=",
			HideCode: "-coverpkg=", Mask: none, Config: none,
		},
		Placeholders: []Placeholder{{Name: `^\[(Synchronized|Report)?(Before|After)Suite\]`}},
	},
}
