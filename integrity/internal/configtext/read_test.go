package configtext

import "testing"

// FuzzRead checks that nothing an agent writes stops the audit.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"a: &x [*x, \"",
		"jobs:\n  test:\n    steps:\n      - name: test\n        run: |\n          go vet ./...\n          go test ./... || true\n",
		"{\n  \"scripts\": {\"test\": \"jest --passWithNoTests\"},\n  \"jest\": {\"coverageThreshold\": {\"global\": {\"lines\": 90}}}\n}\n",
		"[tool.pytest.ini_options]\naddopts = \"-k 'not slow'\"\ntestpaths = [\"tests\"]\n",
		"<project><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><configuration><skip>true</skip></configuration></plugin></plugins></build></project>\n",
		".PHONY: test\ntest: build\n\t-go test ./... ; true\n",
		"set -e\nif false; then\n  pytest\nfi\nexit 0\n",
		"FROM golang\nRUN go test ./... \\\n  || true\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for kind := None; kind <= codeConfig; kind++ {
			r, ok := Read(kind, ".rspec", []byte(text))
			if !ok {
				r = ReadLines([]byte(text))
			}
			for _, c := range FindCalls(&r) {
				if c.Name == "" {
					t.Errorf("a call without a program: %+v", c)
				}
			}
		}
	})
}
