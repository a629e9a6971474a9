// Package language detects the programming language of a file. From the path and the start of a
// file, it also reports whether the file is a test, third-party code, generated or binary.
package language
