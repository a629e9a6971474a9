package framework

// php are the rows of the frameworks of PHP. Their options are those of PHPUnit 12, Pest 4,
// Codeception 5 and Behat 3. [Framework] explains the fields of a row, and [Options] the notation
// of the options.
var php = []Framework{
	{
		Name: "phpunit", Language: "php", Programs: []string{"phpunit", "simple-phpunit", "paratest"}, Packages: split("phpunit/phpunit symfony/phpunit-bridge"),
		ConfigFiles: split("phpunit.xml phpunit.xml.dist phpunit.dist.xml"),
		Options: Options{
			Focus:     "--filter= --group= --testsuite= --covers= --uses= --requires-php-extension= --run-test-id= --test-files-file= --test-suffix= --dirty --retry",
			Exclude:   "--exclude-group= --exclude-filter= --exclude-testsuite= --skip=",
			StopEarly: "--stop-on-failure --stop-on-defect --stop-on-error --stop-on-warning --stop-on-risky --stop-on-skipped --stop-on-incomplete --stop-on-deprecation --stop-on-notice",
			RunNone:   "--list-tests --list-tests-xml= --list-groups --list-suites --list-test-files --list-test-ids --check-version --warm-coverage-cache",
			Update:    "-d=--update-snapshots -d=--update* --update-snapshots",
			Loosen:    "--max-attempts= --do-not-fail-on-warning --do-not-fail-on-risky --do-not-fail-on-incomplete --do-not-fail-on-skipped --do-not-fail-on-deprecation --do-not-fail-on-notice --do-not-fail-on-empty-test-suite --do-not-fail-on-phpunit-warning",
			HideCode:  "--no-coverage --coverage-filter=",
			Config:    "-c= --configuration= --no-configuration --bootstrap= --use-baseline= --generate-baseline= --no-extensions",
			Neutral:   "--log-junit= --coverage-clover= --cache-directory= --colors= --order-by= --random-order-seed= --processes= -p= --repeat=",
			Mask:      none,
		},
		Rerun: Rerun{
			Way: ByWords, Programs: split("phpunit pest simple-phpunit"), Own: split("--filter"),
			Words: func(s Selection) []string {
				return []string{"--filter=" + s.anyNamePattern("/(", ")$/s", anySpace, phpName)}
			},
		},
		Report:   Output{Format: "junit", Args: split("--log-junit={{report_dir}}/phpunit.xml --colors=never --do-not-cache-result"), Files: split("{{report_dir}}/phpunit.xml")},
		Coverage: Output{Format: "clover", Args: split("--coverage-clover={{report_dir}}/clover.xml"), Env: split("XDEBUG_MODE=coverage"), Files: split("{{report_dir}}/clover.xml"), Needs: split("ext-pcov ext-xdebug phpunit-pcov")},
		Mutants:  Environment, Marks: split("PHPUNIT_COMPOSER_INSTALL __PHPUNIT_PHAR__ PHPUnit"),
		Placeholders: []Placeholder{{Name: `^(Error|Warning)$`, Message: `^(Error|Warning)\n`}},
		Unsupported:  map[Capability]string{Lists: "its list has names that its report writes in another way", Affects: "has no such option"},
	},
	{
		Name: "pest", Like: "phpunit", Programs: []string{"pest"}, Packages: split("pestphp/pest"), ConfigFiles: split("tests/Pest.php"),
		Options: Options{
			Focus:     "--filter= --group= --testsuite= --covers= --uses= --dirty --retry --todos --todo --shard= --issue= --pr= --pull-request= --assignee= --ticket= --notes --flaky",
			StopEarly: "--bail --stop-on-failure --stop-on-defect --stop-on-error --stop-on-warning --stop-on-risky --stop-on-skipped --stop-on-incomplete --stop-on-deprecation --stop-on-notice",
			Update:    "--update-snapshots -d=--update*",
		},
	},
	{
		Name: "codecept", Language: "php", Programs: []string{"codecept run", "codecept"}, Packages: split("codeception/codeception"), ConfigFiles: split("codeception.yml codeception.dist.yml"), Style: Bundled,
		Options: Options{
			Focus:   "-g= --group= --filter= --testsuite= -o= --env= --shard= --dirty --retry",
			Exclude: "-s= --skip= -x= --skip-group= --exclude-group=", StopEarly: "-f --fail-fast[=]",
			RunNone: "build config:validate dry-run", Mask: "--no-exit", HideCode: "--disable-coverage-php",
			Config: "-c= --config= --override= --bootstrap[=]", Neutral: "--seed=",
			Update: none, Loosen: none,
		},
	},
	{
		Name: "behat", Language: "php", Programs: []string{"behat"}, Packages: split("behat/behat"), ConfigFiles: split("behat.yml behat.yml.dist"),
		Options: Options{
			Focus: "--tags= --name= --role= -s= --suite= --rerun --rerun-only", Exclude: "--tags=~*",
			StopEarly: "--stop-on-failure", RunNone: "--dry-run --init -d= --definitions= --story-syntax",
			Mask: "--no-strict", Config: "-p= --profile= -c= --config=",
			Neutral: "-f= --format= -o= --out= --lang= --order=", Update: none, Loosen: none, HideCode: none,
		},
	},
}
