// Package inspect finds what keeps tests from running or failing: skips, unreachable code,
// swallowed failures and early exits. It also finds the tables of tests and the directives
// that silence tools. [Inspect] returns all of it for one file; the marks say which lines are
// affected and under which condition.
package inspect
