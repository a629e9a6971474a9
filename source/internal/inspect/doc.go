// Package inspect finds what keeps tests from running or failing: skips, unreachable code,
// swallowed failures and early exits. It also finds the tables of tests and the directives that
// silence tools.
//
// [Inspect] returns all of it for one file. It splits the file into tokens once, and an inspector
// then looks for each kind of [Mark]:
//
//   - skip.go finds skips, focused tests and exits by regular expressions
//   - conditions.go finds the conditions under which a statement runs
//   - preprocessor.go finds tests that the preprocessor excludes
//   - swallow.go finds exception handlers that drop a failure
//   - unreachable.go finds lines of tests that never run
//   - guard.go finds lines of tests that run only under a condition
//   - tables.go finds the tables of tests
//   - directive.go finds the directives that silence tools
//
// Most regular expressions match masked text, in which comments and the contents of strings are
// spaces.
package inspect
