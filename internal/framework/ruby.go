package framework

var ruby = []Framework{
	{
		Name: "rspec", Language: "ruby", Programs: []string{"rspec", "rake spec", "rails spec", "bake spec"}, Packages: list("rspec rspec-rails"), ConfigFiles: list(".rspec spec/spec_helper.rb"),
		Style: Bundled,
		Options: Options{
			Focus:     "-e= --example= -E= --example-matches= --only-failures -n --next-failure --name= --bisect[=] -t= --tag= SPEC= SPEC_OPTS= TEST= TESTOPTS= TESTS=",
			Exclude:   "--exclude-pattern= -P= --pattern= -t=~* --tag=~*",
			StopEarly: "--fail-fast[=]",
			RunNone:   "--dry-run --init",
			Update:    "--update-snapshots",
			Loosen:    None,
			Mask:      "--failure-exit-code=0 --no-fail-if-no-examples --error-exit-code=0",
			HideCode:  None,
			Config:    "-O= --options= -r= --require= -I= --default-path= --dependency-tool=",
			Neutral:   "-f= --format= -o= --out= --seed= --order= --deprecation-out=",
		},
	},
	{
		Name: "minitest", Language: "ruby", Programs: []string{"rails test", "rake test", "bake test", "minitest", "ruby -Itest", "ruby -Ilib:test", "ruby -Ilib"}, Packages: list("minitest"), ConfigFiles: list("Rakefile test/test_helper.rb"),
		Style: Bundled,
		Options: Options{
			Focus:     "-n= --name= -i= --include= -e= --example= --only-failures TEST= TESTOPTS= TESTS= SPEC= SPEC_OPTS= N=",
			Exclude:   "-x= --exclude= --exclude-pattern= -P= --pattern= X=",
			StopEarly: "-f --fail-fast",
			RunNone:   None,
			Update:    "--update-snapshots",
			Loosen:    None,
			Mask:      None,
			HideCode:  None,
			Config:    "--environment= -I=",
			Neutral:   "-s= --seed= -S= --skip= -t= --tag=",
		},
	},
	{
		Name: "cucumber", Language: "ruby", Programs: []string{"cucumber"}, Packages: list("cucumber"), ConfigFiles: list("cucumber.yml cucumber.js"),
		Style: Bundled,
		Options: Options{
			Focus:     "-t= --tags= -n= --name= --lines=",
			Exclude:   "-e= --exclude= -t=not* --tags=not* -t=~* --tags=~*",
			StopEarly: "--fail-fast",
			RunNone:   "-d --dry-run --i18n-languages",
			Update:    None,
			Loosen:    "--retry= --retry-total= --no-strict-flaky",
			Mask:      "--no-strict --no-strict-undefined --no-strict-pending",
			HideCode:  None,
			Config:    "-p= --profile= -P --no-profile -c= --config= -r= --require= --import=",
			Neutral:   "-f= --format= -o= --out= --order= --parallel=",
		},
		Unsupported: callsOnly(),
	},
}
