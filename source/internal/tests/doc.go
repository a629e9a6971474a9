// Package tests finds test definitions in languages other than Go.
package tests
