package integrity

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/source"
)

// testHelpers are names of files that belong to tests in any folder.
var testHelpers = []string{"conftest.py", "pytest.ini", "jest.setup.js", "jest.setup.ts", "vitest.setup.ts", "vitest.setup.js", "setuptests.js", "setuptests.ts", "rails_helper.rb", "spec_helper.rb", "test_helper.rb"}

// BelongsToTests reports whether a path is that of a test, or of something that tests
// need: shared set-up, fixtures, snapshots.
func BelongsToTests(name string) bool {
	base := strings.ToLower(path.Base(name))
	return source.TestFile(name, source.LanguageOf(name, nil)) || facts.InTestFolder(name) ||
		slices.Contains(testHelpers, base) || strings.HasSuffix(base, ".snap") || strings.HasPrefix(name, "__snapshots__/") || strings.Contains(name, "/__snapshots__/")
}

// TouchesProduct reports whether product code changed: neither tests, nor third-party
// or generated code.
func TouchesProduct(files []File) bool {
	return facts.New(files, Tree{}, nil).TouchesProduct()
}
