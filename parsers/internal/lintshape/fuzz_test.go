package lintshape_test

import (
	"testing"

	"supervise/test/reports"
)

func FuzzActionlint(f *testing.F)        { reports.Fuzz(f, "actionlint") }
func FuzzActionlintLines(f *testing.F)   { reports.Fuzz(f, "actionlint-lines") }
func FuzzAndroidLint(f *testing.F)       { reports.Fuzz(f, "android-lint") }
func FuzzBandit(f *testing.F)            { reports.Fuzz(f, "bandit") }
func FuzzBiome(f *testing.F)             { reports.Fuzz(f, "biome") }
func FuzzBrakeman(f *testing.F)          { reports.Fuzz(f, "brakeman") }
func FuzzCfnLint(f *testing.F)           { reports.Fuzz(f, "cfn-lint") }
func FuzzCheckov(f *testing.F)           { reports.Fuzz(f, "checkov") }
func FuzzCheckstyle(f *testing.F)        { reports.Fuzz(f, "checkstyle") }
func FuzzCodeClimate(f *testing.F)       { reports.Fuzz(f, "code-climate") }
func FuzzCodeClimateLines(f *testing.F)  { reports.Fuzz(f, "code-climate-lines") }
func FuzzCppcheck(f *testing.F)          { reports.Fuzz(f, "cppcheck") }
func FuzzCredo(f *testing.F)             { reports.Fuzz(f, "credo") }
func FuzzDartAnalyze(f *testing.F)       { reports.Fuzz(f, "dart-analyze") }
func FuzzDenoLint(f *testing.F)          { reports.Fuzz(f, "deno-lint") }
func FuzzEmptyList(f *testing.F)         { reports.Fuzz(f, "empty-list") }
func FuzzEslint(f *testing.F)            { reports.Fuzz(f, "eslint") }
func FuzzFindingsByFile(f *testing.F)    { reports.Fuzz(f, "findings-by-file") }
func FuzzGccJson(f *testing.F)           { reports.Fuzz(f, "gcc-json") }
func FuzzGithubAnnotations(f *testing.F) { reports.Fuzz(f, "github-annotations") }
func FuzzGitlabSast(f *testing.F)        { reports.Fuzz(f, "gitlab-sast") }
func FuzzGosec(f *testing.F)             { reports.Fuzz(f, "gosec") }
func FuzzHadolint(f *testing.F)          { reports.Fuzz(f, "hadolint") }
func FuzzHtmlhint(f *testing.F)          { reports.Fuzz(f, "htmlhint") }
func FuzzIdeaInspection(f *testing.F)    { reports.Fuzz(f, "idea-inspection") }
func FuzzJslint(f *testing.F)            { reports.Fuzz(f, "jslint") }
func FuzzKtlint(f *testing.F)            { reports.Fuzz(f, "ktlint") }
func FuzzMarkdownlint(f *testing.F)      { reports.Fuzz(f, "markdownlint") }
func FuzzMarkdownlintFiles(f *testing.F) { reports.Fuzz(f, "markdownlint-files") }
func FuzzMypy(f *testing.F)              { reports.Fuzz(f, "mypy") }
func FuzzOxlint(f *testing.F)            { reports.Fuzz(f, "oxlint") }
func FuzzPhpcs(f *testing.F)             { reports.Fuzz(f, "phpcs") }
func FuzzPhpcsXml(f *testing.F)          { reports.Fuzz(f, "phpcs-xml") }
func FuzzPhpstan(f *testing.F)           { reports.Fuzz(f, "phpstan") }
func FuzzPmd(f *testing.F)               { reports.Fuzz(f, "pmd") }
func FuzzPmdJson(f *testing.F)           { reports.Fuzz(f, "pmd-json") }
func FuzzPsalm(f *testing.F)             { reports.Fuzz(f, "psalm") }
func FuzzPylint(f *testing.F)            { reports.Fuzz(f, "pylint") }
func FuzzPylintJson2(f *testing.F)       { reports.Fuzz(f, "pylint-json2") }
func FuzzPyright(f *testing.F)           { reports.Fuzz(f, "pyright") }
func FuzzRdjson(f *testing.F)            { reports.Fuzz(f, "rdjson") }
func FuzzRdjsonl(f *testing.F)           { reports.Fuzz(f, "rdjsonl") }
func FuzzRevive(f *testing.F)            { reports.Fuzz(f, "revive") }
func FuzzRubocop(f *testing.F)           { reports.Fuzz(f, "rubocop") }
func FuzzRuff(f *testing.F)              { reports.Fuzz(f, "ruff") }
func FuzzRuffLines(f *testing.F)         { reports.Fuzz(f, "ruff-lines") }
func FuzzSemgrep(f *testing.F)           { reports.Fuzz(f, "semgrep") }
func FuzzShellcheck(f *testing.F)        { reports.Fuzz(f, "shellcheck") }
func FuzzShellcheckJson1(f *testing.F)   { reports.Fuzz(f, "shellcheck-json1") }
func FuzzSnyk(f *testing.F)              { reports.Fuzz(f, "snyk") }
func FuzzSonarqube(f *testing.F)         { reports.Fuzz(f, "sonarqube") }
func FuzzSonarqubeGeneric(f *testing.F)  { reports.Fuzz(f, "sonarqube-generic") }
func FuzzSpotbugs(f *testing.F)          { reports.Fuzz(f, "spotbugs") }
func FuzzSqlfluff(f *testing.F)          { reports.Fuzz(f, "sqlfluff") }
func FuzzStaticcheck(f *testing.F)       { reports.Fuzz(f, "staticcheck") }
func FuzzStaticcheckList(f *testing.F)   { reports.Fuzz(f, "staticcheck-list") }
func FuzzStylecop(f *testing.F)          { reports.Fuzz(f, "stylecop") }
func FuzzStylelint(f *testing.F)         { reports.Fuzz(f, "stylelint") }
func FuzzSwiftlint(f *testing.F)         { reports.Fuzz(f, "swiftlint") }
func FuzzTflint(f *testing.F)            { reports.Fuzz(f, "tflint") }
func FuzzTrivy(f *testing.F)             { reports.Fuzz(f, "trivy") }
func FuzzTslint(f *testing.F)            { reports.Fuzz(f, "tslint") }
func FuzzVale(f *testing.F)              { reports.Fuzz(f, "vale") }

func FuzzGolangci(f *testing.F) {
	reports.Fuzz(f, "golangci-lint", `{"Issues":[{"FromLinter":"a","Text":"b","Severity":"info","Pos":{"Filename":"c.go","Line":-1}}],"Report":{"Error":"x"}}`)
}
