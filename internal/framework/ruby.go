package framework

// ruby are the rows of the frameworks of Ruby. [Framework] explains the fields of a row, and
// [Options] the notation of the options.
var ruby = []Framework{
	{
		Name: "rspec", Language: "ruby", Programs: []string{"rspec", "rake spec", "rails spec", "bake spec"}, Packages: split("rspec rspec-rails"), ConfigFiles: split(".rspec spec/spec_helper.rb"), Style: Bundled,
		Options: Options{
			Focus:   "-e= --example= -E= --example-matches= --only-failures -n --next-failure --name= --bisect[=] -t= --tag= SPEC= SPEC_OPTS= TEST= TESTOPTS= TESTS=",
			Exclude: "--exclude-pattern= -P= --pattern= -t=~* --tag=~*", StopEarly: "--fail-fast[=]",
			RunNone: "--dry-run --init", Update: "--update-snapshots",
			Mask:    "--failure-exit-code=0 --no-fail-if-no-examples --error-exit-code=0",
			Config:  "-O= --options= -r= --require= -I= --default-path= --dependency-tool=",
			Neutral: "-f= --format= -o= --out= --seed= --order= --deprecation-out=",
			Loosen:  none, HideCode: none,
		},
		Rerun:    Rerun{Way: ByEnvironment, CoverageLimit: true},
		List:     List{Args: split("--dry-run --format=json --no-color"), Format: Report},
		Report:   Output{Format: "rspec-json", Args: split("--format=json --out={{report_dir}}/rspec.json --no-color --no-fail-fast"), Files: split("{{report_dir}}/rspec.json")},
		Coverage: Output{Format: "simplecov", Files: split("coverage/.resultset.json"), Needs: split("simplecov")},
		Mutants:  Environment, Marks: split("RSpec"),
		Unsupported: map[Capability]string{Affects: "has no such option"},
	},
	{
		Name: "minitest", Language: "ruby", Programs: []string{"rails test", "rake test", "bake test", "minitest", "ruby -Itest", "ruby -Ilib:test", "ruby -Ilib"}, Packages: split("minitest"), ConfigFiles: split("Rakefile test/test_helper.rb"),
		Style: Bundled,
		Options: Options{
			Focus:   "-n= --name= -i= --include= -e= --example= --only-failures TEST= TESTOPTS= TESTS= SPEC= SPEC_OPTS= N=",
			Exclude: "-x= --exclude= --exclude-pattern= -P= --pattern= X=", StopEarly: "-f --fail-fast",
			Update: "--update-snapshots", Config: "--environment= -I=",
			Neutral: "-s= --seed= -S= --skip= -t= --tag=", RunNone: none, Loosen: none, Mask: none, HideCode: none,
		},
		Report:   Output{Format: "minitest", Args: split("--verbose")},
		Coverage: Output{Format: "simplecov", Files: split("coverage/.resultset.json"), Needs: split("simplecov")},
		Mutants:  Environment, Marks: split("Minitest Test::Unit"),
		Unsupported: map[Capability]string{Reruns: "tasks of Rake and Rails take names in different ways", Lists: "lists no tests", Affects: "has no such option"},
	},
	{
		Name: "cucumber", Language: "ruby", Programs: []string{"cucumber"}, Packages: split("cucumber"), ConfigFiles: split("cucumber.yml cucumber.js"), Style: Bundled,
		Options: Options{
			Focus:   "-t= --tags= -n= --name= --lines=",
			Exclude: "-e= --exclude= -t=not* --tags=not* -t=~* --tags=~*", StopEarly: "--fail-fast",
			RunNone: "-d --dry-run --i18n-languages", Loosen: "--retry= --retry-total= --no-strict-flaky",
			Mask:    "--no-strict --no-strict-undefined --no-strict-pending",
			Config:  "-p= --profile= -P --no-profile -c= --config= -r= --require= --import=",
			Neutral: "-f= --format= -o= --out= --order= --parallel=", Update: none, HideCode: none,
		},
	},
}
