// Package terminal reads the keyboard of a terminal in raw mode, follows the modes that a program switches on, and puts
// them back.
package terminal
