package framework

// ReportDir is replaced, in options and names of files, by the private folder that each run
// of a check gets for its reports. It is outside the tree. Files in it that are not reports
// have a name that begins with a dot.
const ReportDir = "{{report_dir}}"

// Output is a machine-readable output of a framework, and how it is requested.
type Output struct {
	Format string   // its name in docs/formats.md
	Args   []string // options that request it
	Env    []string // NAME=value, which requests it
	Files  []string // that it is written to; none: it is printed
	Needs  []string // dependencies, of which the project must have one
}

// Affected are the options with which a framework runs only tests that a change affects.
type Affected struct {
	Since string // followed by a revision of git: "--changedSince="
	Files string // followed by the changed files: "--findRelatedTests"
}

// Switch is how a mutant can be switched on while tests run, without building again.
type Switch int

// The ways to switch.
const (
	noSwitch    Switch = iota
	Environment        // code under test reads a variable of the environment
	Permission         // the same, and the program must be permitted to: deno --allow-env
)

func (s Switch) String() string {
	return [...]string{"", "environment", "environment, with a permission"}[s]
}

// Concealment is how the code under test is kept from seeing that it is tested: what the
// start of the tests loads.
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

// notBuilt is why runs of a framework are not concealed.
const notBuilt = "no way to conceal it is built"
