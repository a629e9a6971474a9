// Package assertion judges the text of a single assertion: how much it demands, and whether it can fail at all.
package assertion
