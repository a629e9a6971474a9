package parsers_test

import "testing"

func FuzzSarif(f *testing.F)        { fuzz(f, "sarif", lintSample("sarif")...) }
func FuzzCargo(f *testing.F)        { fuzz(f, "cargo", lintSample("cargo")...) }
func FuzzRustc(f *testing.F)        { fuzz(f, "rustc", lintSample("rustc")...) }
func FuzzEmptyList(f *testing.F)    { fuzz(f, "empty-list", lintSample("empty-list")...) }
func FuzzRuff(f *testing.F)         { fuzz(f, "ruff", lintSample("ruff")...) }
func FuzzRuffLines(f *testing.F)    { fuzz(f, "ruff-lines", lintSample("ruff-lines")...) }
func FuzzPylint(f *testing.F)       { fuzz(f, "pylint", lintSample("pylint")...) }
func FuzzPylintJson2(f *testing.F)  { fuzz(f, "pylint-json2", lintSample("pylint-json2")...) }
func FuzzMypy(f *testing.F)         { fuzz(f, "mypy", lintSample("mypy")...) }
func FuzzPyright(f *testing.F)      { fuzz(f, "pyright", lintSample("pyright")...) }
func FuzzBandit(f *testing.F)       { fuzz(f, "bandit", lintSample("bandit")...) }
func FuzzEslint(f *testing.F)       { fuzz(f, "eslint", lintSample("eslint")...) }
func FuzzTslint(f *testing.F)       { fuzz(f, "tslint", lintSample("tslint")...) }
func FuzzStylelint(f *testing.F)    { fuzz(f, "stylelint", lintSample("stylelint")...) }
func FuzzBiome(f *testing.F)        { fuzz(f, "biome", lintSample("biome")...) }
func FuzzOxlint(f *testing.F)       { fuzz(f, "oxlint", lintSample("oxlint")...) }
func FuzzDenoLint(f *testing.F)     { fuzz(f, "deno-lint", lintSample("deno-lint")...) }
func FuzzHtmlhint(f *testing.F)     { fuzz(f, "htmlhint", lintSample("htmlhint")...) }
func FuzzMarkdownlint(f *testing.F) { fuzz(f, "markdownlint", lintSample("markdownlint")...) }
func FuzzMarkdownlintFiles(f *testing.F) {
	fuzz(f, "markdownlint-files", lintSample("markdownlint-files")...)
}
func FuzzCodeClimate(f *testing.F) { fuzz(f, "code-climate", lintSample("code-climate")...) }
func FuzzCodeClimateLines(f *testing.F) {
	fuzz(f, "code-climate-lines", lintSample("code-climate-lines")...)
}
func FuzzRdjson(f *testing.F)      { fuzz(f, "rdjson", lintSample("rdjson")...) }
func FuzzRdjsonl(f *testing.F)     { fuzz(f, "rdjsonl", lintSample("rdjsonl")...) }
func FuzzStaticcheck(f *testing.F) { fuzz(f, "staticcheck", lintSample("staticcheck")...) }
func FuzzStaticcheckList(f *testing.F) {
	fuzz(f, "staticcheck-list", lintSample("staticcheck-list")...)
}

func FuzzSonarqubeGeneric(f *testing.F) {
	fuzz(f, "sonarqube-generic", lintSample("sonarqube-generic")...)
}
func FuzzSonarqube(f *testing.F)  { fuzz(f, "sonarqube", lintSample("sonarqube")...) }
func FuzzShellcheck(f *testing.F) { fuzz(f, "shellcheck", lintSample("shellcheck")...) }
func FuzzShellcheckJson1(f *testing.F) {
	fuzz(f, "shellcheck-json1", lintSample("shellcheck-json1")...)
}
func FuzzHadolint(f *testing.F)       { fuzz(f, "hadolint", lintSample("hadolint")...) }
func FuzzRubocop(f *testing.F)        { fuzz(f, "rubocop", lintSample("rubocop")...) }
func FuzzPhpstan(f *testing.F)        { fuzz(f, "phpstan", lintSample("phpstan")...) }
func FuzzPhpcs(f *testing.F)          { fuzz(f, "phpcs", lintSample("phpcs")...) }
func FuzzPsalm(f *testing.F)          { fuzz(f, "psalm", lintSample("psalm")...) }
func FuzzPmdJson(f *testing.F)        { fuzz(f, "pmd-json", lintSample("pmd-json")...) }
func FuzzSemgrep(f *testing.F)        { fuzz(f, "semgrep", lintSample("semgrep")...) }
func FuzzBrakeman(f *testing.F)       { fuzz(f, "brakeman", lintSample("brakeman")...) }
func FuzzSqlfluff(f *testing.F)       { fuzz(f, "sqlfluff", lintSample("sqlfluff")...) }
func FuzzRevive(f *testing.F)         { fuzz(f, "revive", lintSample("revive")...) }
func FuzzGccJson(f *testing.F)        { fuzz(f, "gcc-json", lintSample("gcc-json")...) }
func FuzzTrivy(f *testing.F)          { fuzz(f, "trivy", lintSample("trivy")...) }
func FuzzSnyk(f *testing.F)           { fuzz(f, "snyk", lintSample("snyk")...) }
func FuzzActionlint(f *testing.F)     { fuzz(f, "actionlint", lintSample("actionlint")...) }
func FuzzKtlint(f *testing.F)         { fuzz(f, "ktlint", lintSample("ktlint")...) }
func FuzzSwiftlint(f *testing.F)      { fuzz(f, "swiftlint", lintSample("swiftlint")...) }
func FuzzGosec(f *testing.F)          { fuzz(f, "gosec", lintSample("gosec")...) }
func FuzzCfnLint(f *testing.F)        { fuzz(f, "cfn-lint", lintSample("cfn-lint")...) }
func FuzzCheckov(f *testing.F)        { fuzz(f, "checkov", lintSample("checkov")...) }
func FuzzTflint(f *testing.F)         { fuzz(f, "tflint", lintSample("tflint")...) }
func FuzzCredo(f *testing.F)          { fuzz(f, "credo", lintSample("credo")...) }
func FuzzDartAnalyze(f *testing.F)    { fuzz(f, "dart-analyze", lintSample("dart-analyze")...) }
func FuzzVale(f *testing.F)           { fuzz(f, "vale", lintSample("vale")...) }
func FuzzFindingsByFile(f *testing.F) { fuzz(f, "findings-by-file", lintSample("findings-by-file")...) }

func FuzzActionlintLines(f *testing.F) {
	fuzz(f, "actionlint-lines", lintSample("actionlint-lines")...)
}

func FuzzGithubAnnotations(f *testing.F) {
	fuzz(f, "github-annotations", lintSample("github-annotations")...)
}
func FuzzGitlabSast(f *testing.F) { fuzz(f, "gitlab-sast", lintSample("gitlab-sast")...) }
