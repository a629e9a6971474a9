// Package function finds functions among the tokens of a file and counts their complexity.
package function
