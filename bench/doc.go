// Package bench compares the readers of reports with those of other projects,
// on the same generated reports, and snapshots with plain git, each in the same run. It is a separate module, so
// that what it compares with stays out of the program's dependencies.
//
// Run it with `make bench`, or one format: go test -run '^$' -bench GoTest .
package bench
