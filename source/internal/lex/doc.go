// Package lex separates the code, the comments and the strings of a source file, in every
// language with one scanner, and splits the code into tokens. The differences between
// languages are in tables. Callers use a [Source], which derives each of these on demand.
package lex
