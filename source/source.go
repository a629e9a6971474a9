// Package source reads the text of source files: their language, where code,
// comments and strings are, how many lines of code and which functions they
// have and how complex those are, and the tests they define. It looks
// at bytes and paths alone and does no input or output.
//
// Go is read by its own parser. Every other language is read by one scanner
// that masks comments and the bodies of strings and looks for functions and
// decision points in what remains. That scanner is not a parser: it is right on
// code that is formatted as usual, and it always terminates, whatever the
// bytes. Its known limits:
//
//   - Text between the tags of JSX, and text around the code of templates other
//     than PHP, is read as code. The damage of a stray quote ends with its line.
//   - Branches of the C preprocessor are all read, as if none excluded another.
//   - The ?: operator counts when it is written between blanks.
//   - Definitions that macros make are not seen.
//   - Tests with a computed title are not seen, nor is what skips a test.
package source

import (
	"supervise/source/internal/lex"
	"supervise/source/internal/scan"
)

// Scan reads a source file. The language, and in Go whether the file has tests, follow from
// its slash-separated path, which need not exist. For a Go file that does not parse, Scan
// returns the syntax error and what the scanner for the other languages finds; there is no
// other error.
func Scan(path string, src []byte) (File, error) {
	lang := DetectLanguage(path, src)
	if lang == Unknown {
		return File{}, nil
	}
	r := lex.NewSource(lang, src)
	defer r.Close()
	return scan.Read(path, r)
}

// Mask returns a copy of src in which comments, with their delimiters, and the
// bodies of strings, regular expressions and here-documents, without their
// delimiters, are spaces. The copy is as long as src and has its line breaks at
// the same places. Code within strings, such as ${x} in JavaScript, stays.
// Nothing of an Unknown language is masked.
func Mask(lang Language, src []byte) []byte {
	return lex.Mask(src, lex.Classify(lang, src))
}
