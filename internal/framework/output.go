package framework

// ReportDir is a placeholder in options and file names. Each run of a check replaces it by a
// private folder for its reports, outside the tree. Files in it that are not reports have a name
// that starts with a dot.
const ReportDir = "{{report_dir}}"

// Output is a machine-readable output of a framework, and how to request it.
type Output struct {
	Format string   // its name in docs/formats.md
	Args   []string // options that request it
	Env    []string // NAME=value, which requests it
	Files  []string // to which it is written; none: it is printed
	Needs  []string // dependencies; the project must have one of them
}

// Affected are the options with which a framework runs only the tests that a change affects.
type Affected struct {
	Since string // followed by a revision of git: "--changedSince="
	Files string // followed by the changed files: "--findRelatedTests"
}

// Switch is how a mutant is switched on while tests run, without another build.
type Switch int

// The ways to switch.
const (
	noSwitch    Switch = iota
	Environment        // the code reads an environment variable
	Permission         // the same, which must be permitted: deno --allow-env
)

func (s Switch) String() string {
	return [...]string{"", "environment", "environment, with a permission"}[s]
}

// Concealment is how code is kept from finding out that it is tested: what the start of the tests
// loads.
type Concealment int

// The ways to conceal a run of tests.
const (
	noConcealment Concealment = iota
	PythonPlugin              // a plugin and another environment
	NodePreload               // a module that shows another environment and other arguments
	GoOverlay                 // other sources of package testing
)

func (c Concealment) String() string {
	return [...]string{"", "a plugin", "a preloaded module", "an overlay"}[c]
}

// notBuilt is the reason why runs of a framework cannot be concealed.
const notBuilt = "no way to conceal it is built"
