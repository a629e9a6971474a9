// Package tests finds test definitions in languages other than Go: functions with a prefix or
// annotation, calls with a title, and macros. [FindTests] returns them with the facts about their
// bodies, such as their assertions.
//
// A [Shape] describes how a language writes tests. The search (testfind.go) keeps a stack of the
// classes and groups around the current token, and testcall.go reads tests that are calls or
// macros. Package gocode finds the tests of Go and uses the same [TestDef].
package tests
