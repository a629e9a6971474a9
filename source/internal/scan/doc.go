// Package scan gathers the facts about one source file: its language, its lines of code, its
// functions and its tests.
package scan
