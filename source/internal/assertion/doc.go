// Package assertion judges the text of one assertion: how closely it determines a value, and
// whether it can fail at all.
package assertion
