package framework

// List is how a framework lists its tests without running them. The zero value means that it does
// not.
type List struct {
	Args   []string   // words that are added to the command, or replace its last ones
	Format ListFormat // of what is printed
}

// ListFormat is a format of lists of tests. Package listing of measure reads them.
type ListFormat int

// The formats of lists of tests, with the command or the content that they come from.
const (
	NoList      ListFormat = iota
	GoList                 // go test -list . -json
	NodeIDs                // file::class::name, one in a line
	FileList               // a file in each line
	NameAndFile            // JSON: an array of objects with name and file
	Report                 // a report of tests that did not run
	RustTerse              // name: test
	NextestList            // JSON: suites of test cases
	CTestList              // JSON: an object with an array of tests
)
