// Package lex finds code, comments and strings in the text of a file, in every language by one scanner, and splits the
// code into tokens.
package lex
