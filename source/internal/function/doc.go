// Package function finds the functions among the tokens of a file and computes their
// cyclomatic complexity. The differences between languages are in tables.
package function
