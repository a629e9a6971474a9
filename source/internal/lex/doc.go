// Package lex separates the code, the comments and the strings of a source file, in every
// language with one scanner, and splits the code into tokens. The differences between languages
// are in tables.
//
// It works in three steps, which a [Source] runs on demand:
//
//  1. A lexer (lex.go) assigns a [Kind] to every byte. The grammars
//     (grammar.go) describe the comments and strings of each language.
//     literal.go and heredoc.go read what the tables cannot describe.
//  2. [Mask] replaces everything but code by spaces.
//  3. The masked text is split into [Tokens] (token.go), whose brackets
//     are paired.
package lex
