package integrity

import "supervise/integrity/internal/support"

// Role is what a file is for: product code, tests, what tests depend on, or configuration.
type Role = support.Role

// The roles of a file. [Roles] decides by paths, configuration and imports.
const (
	Product      = support.Product // what is tested, with its data
	TestCode     = support.Test
	TestSupport  = support.Support // helpers, fixtures, expected outputs, plugins, set-up files
	RunnerConfig = support.Runner  // of the runner of tests alone
	MixedConfig  = support.Mixed   // of other things as well, where the change is to the runner's part
	OtherFile    = support.Other   // documentation, CI, installed packages
)

// Roles returns the roles of changed files by path, in the project before the change.
func Roles(files []File, base Tree) map[string]Role { return support.Roles(files, base) }

// OnlyPackagesChanged reports whether two versions of a manifest differ only in the packages that they
// name.
func OnlyPackagesChanged(name string, before, after []byte) bool {
	return support.OnlyPackagesChanged(name, before, after)
}

// RoleOf returns the role that the path of a file suggests. [Roles] knows more.
func RoleOf(name string) Role { return support.RoleByPath(name) }

// BelongsToTests reports whether a path is that of a test, or of something that tests
// need: shared set-up, fixtures, snapshots. [Roles] knows more than the path.
func BelongsToTests(name string) bool { return support.RoleByPath(name).IsTestRelated() }
