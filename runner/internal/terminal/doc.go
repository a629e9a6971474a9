// Package terminal reads the keyboard of a terminal in raw mode, and tracks and resets the
// modes that a program switches.
package terminal
