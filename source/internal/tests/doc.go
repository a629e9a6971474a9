// Package tests finds test definitions in languages other than Go: functions with a prefix
// or annotation, calls with a title and macros. [FindTests] returns them with the facts about
// their bodies, such as their assertions.
package tests
