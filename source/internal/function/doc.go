// Package function finds the functions among the tokens of a file and computes their cyclomatic
// complexity. The differences between languages are in tables.
//
// [FindFunctions] first finds the functions: a [Shape] describes how a language writes them
// (function.go), and body.go finds where their bodies end. Then branch.go finds the decision
// points, each of which counts for the innermost function around it.
package function
