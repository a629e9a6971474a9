package framework

// ReportDir is a placeholder in options and file names. Each run of a check replaces it by a
// private folder for its reports, outside the tree. Files in it that are not reports have a name
// that starts with a dot.
const ReportDir = "{{report_dir}}"

// Output is a machine-readable output of a framework, and how to request it. Args, Env and Files
// may contain [ReportDir].
type Output struct {
	Format string   // its name in docs/formats.md
	Args   []string // options that request it
	Env    []string // variables that request it, each as NAME=value
	Files  []string // patterns of the files to which it is written; if there are none, it is printed
	Needs  []string // dependencies, of which the project must have one
}

// Affected has the options with which a framework runs only the tests that a change affects. ""
// means that there is no such option.
type Affected struct {
	Since string // the option is followed by a revision of git: "--changedSince="
	Files string // the option is followed by the changed files: "--findRelatedTests"
}

// Switch is how a mutant is switched on while tests run, without another build.
type Switch int

// The ways to switch.
const (
	noSwitch    Switch = iota
	Environment        // the code reads an environment variable
	Permission         // the same, which must be permitted: deno --allow-env
)

// String returns a description for the documentation, "" for no switch.
func (s Switch) String() string {
	return [...]string{"", "environment", "environment, with a permission"}[s]
}

// Concealment is what the start of a test run loads so that the tested code cannot find out that it
// is tested.
type Concealment int

// The ways to conceal a run of tests.
const (
	noConcealment Concealment = iota
	PythonPlugin              // a plugin and another environment
	NodePreload               // a module that shows another environment and other arguments
	GoOverlay                 // other sources of package testing
)

// String returns a description for the documentation, "" for no concealment.
func (c Concealment) String() string {
	return [...]string{"", "a plugin", "a preloaded module", "an overlay"}[c]
}

// notBuilt is the reason for the frameworks whose runs cannot be concealed yet.
const notBuilt = "no way to conceal it is built"
