// Package assertion judges the text of one assertion: how closely it determines a value, and
// whether it can fail at all.
//
// [ParseAssertion] does so with regular expressions only (check.go). constant.go evaluates
// conditions that depend neither on the code nor on the environment. An assertion of Go without a
// library is written as its condition and the call that reports the failure: "got != want =>
// t.Error".
package assertion
