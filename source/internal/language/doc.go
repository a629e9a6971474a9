// Package language detects the programming language of a file. It also reports, from the path and
// the start of a file whether the file is a test, third-party code, generated or binary.
package language
