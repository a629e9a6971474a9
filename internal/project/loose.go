package project

import (
	"fmt"

	"supervise/internal/project/internal/checkout"
)

// strayTests are test files that need no manifest, or lack one. They are looked for where
// nothing else is found.
var strayTests = []struct {
	patterns []string
	propose  func(checkout.Folder) proposal // runs them without a manifest; nil: they cannot be run so
	lacks    string                         // the manifest, and how to get it
}{
	{[]string{"test_*.py", "*_test.py"}, proposePython, ""},
	{[]string{"*_test.go"}, nil, "go.mod: run go mod init"},
	{[]string{"*.test.js", "*.test.mjs", "*.test.cjs", "*.test.ts", "*.test.tsx", "*.spec.js", "*.spec.ts"}, nil, "package.json: run npm init and install the test runner"},
	{[]string{"*_spec.rb", "*_test.rb", "test_*.rb"}, nil, "Gemfile: run bundle init and add the test runner"},
	{[]string{"*Test.php"}, nil, "composer.json: run composer init and require the test runner"},
	{[]string{"*Test.java", "*Test.kt"}, nil, "pom.xml or build.gradle: run mvn archetype:generate or gradle init"},
	{[]string{"*_test.exs"}, nil, "mix.exs: run mix new"},
	{[]string{"*.rs"}, nil, "Cargo.toml: run cargo init"},
}

// findStrayTests finds tests without a manifest. It returns what they lack, "" where there are
// none or where they can be run.
func (w *walk) findStrayTests(f checkout.Folder) string {
	for _, l := range strayTests {
		found := f.Search(1, l.patterns...)
		if len(found) == 0 {
			continue
		}
		if l.propose == nil {
			return fmt.Sprintf("there is %s, but no %s", found[0], l.lacks)
		}
		if p, ok := (recogniser{"python", found, l.propose}).run(f, nil); ok {
			w.found = append(w.found, p)
			return ""
		}
	}
	return ""
}
