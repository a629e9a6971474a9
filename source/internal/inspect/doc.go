// Package inspect finds what keeps tests from running or failing: skips, dead code, swallowed failures, early exits; and
// the tables of tests and the directives that silence tools.
package inspect
