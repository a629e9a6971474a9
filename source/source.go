// Package source reads the text of source files: which parts are code, comments and strings, how
// many lines of code and which functions they have, how complex these are, and which tests they
// define. It looks only at bytes and paths and does no input or output.
//
// [Scan] returns the facts about one file. [Inspect] adds what keeps its tests from running or
// failing. [DetectLanguage], [IsTestFile], [IsGenerated] and [IsVendored] classify a file by its
// path and its first bytes.
//
// Go is read by its own parser. Every other language is read by one scanner that masks comments
// and the contents of strings, and looks for functions and decision points in the remaining text.
// That scanner is not a parser. It is right for code that is formatted as usual, and it
// terminates for any bytes. Its known limits:
//
//   - Text between the tags of JSX, and text around the code of templates
//     other than PHP, is read as code. The effect of a stray quote ends with
//     its line.
//   - All branches of the C preprocessor are read as code.
//   - The ?: operator counts only if there are spaces around its question mark.
//   - Definitions in the expansion of a macro are not found.
//   - Tests with a computed title are not found, and neither are their skips.
package source

import (
	"supervise/source/internal/lex"
	"supervise/source/internal/scan"
)

// Scan reads a source file. The language is detected from the slash-separated path, which need
// not exist, and from src. The path of a Go file also determines whether it has tests. For a Go
// file that does not parse, Scan returns the syntax error and what the scanner for the other
// languages finds. There is no other error.
func Scan(path string, src []byte) (File, error) {
	lang := DetectLanguage(path, src)
	if lang == Unknown {
		return File{}, nil
	}
	r := lex.NewSource(lang, src)
	defer r.Close()
	return scan.Read(path, r)
}

// Mask returns a copy of src in which comments, and the contents of strings, regular expressions
// and here-documents, are spaces. The delimiters of comments are spaces, too, but those of
// strings are not. The copy has the length and the line breaks of src. Code within strings, such
// as ${x} in JavaScript, is not masked. Source of an Unknown language is returned unchanged.
func Mask(lang Language, src []byte) []byte {
	return lex.Mask(src, lex.Classify(lang, src))
}
