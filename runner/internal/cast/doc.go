// Package cast records what a terminal shows, in a file of bounded size, and keeps the end of what a program printed.
package cast
