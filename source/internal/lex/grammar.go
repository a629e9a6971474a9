package lex

import (
	"strings"

	"supervise/source/internal/language"
)

// grammar describes how comments and literals of a language are written. The functions handle
// what the tables cannot describe; they return true if they consumed something.
type grammar struct {
	lineComments      []string // marks that make the rest of the line a comment
	blockComments     []blockComment
	quotes            []*quote          // tried in order: the longer of two that begin alike first
	readLiteral       func(*lexer) bool // literals that a fixed opening cannot describe
	readAfterWord     func(*lexer, int) // prefixed literals; the place where the word starts
	isNotComment      func(*lexer) bool // a line mark that does not count here
	valueWords        map[string]bool   // Words after which a value begins
	template          *quote            // text around the code, in PHP
	extraWordBytes    string            // more bytes that words are made of
	joinsLines        bool              // a backslash joins lines, even of comments
	quotesGroupDigits bool              // single quotes group digits
}

// blockComment is a kind of comment with an end mark.
type blockComment struct {
	open, close string
	nested      bool
}

func (g *grammar) isWord(c byte) bool {
	return isAlnum(c) || c == '_' || c >= 0x80 || (g.extraWordBytes != "" && strings.IndexByte(g.extraWordBytes, c) >= 0)
}

// wordByteTables hold, for each language, whether a byte can be part of a word.
var wordByteTables = func() (out [language.Count]*[256]bool) {
	for lang := range out {
		out[lang] = &[256]bool{}
		for c := range out[lang] {
			out[lang][c] = grammars[lang].isWord(byte(c))
		}
	}
	return out
}()

var (
	slashComment         = []string{"//"}
	hashComment          = []string{"#"}
	cComment             = []blockComment{{open: "/*", close: "*/"}}
	nestedComment        = []blockComment{{open: "/*", close: "*/", nested: true}}
	doubleQuote          = &quote{open: `"`, close: `"`, escape: true, singleLine: true}
	singleQuote          = &quote{open: `'`, close: `'`, escape: true, singleLine: true}
	multilineDoubleQuote = &quote{open: `"`, close: `"`, escape: true}
	multilineSingleQuote = &quote{open: `'`, close: `'`, escape: true}
	tripleQuote          = &quote{open: `"""`, close: `"""`, escape: true}
	rawBacktick          = &quote{open: "`", close: "`"}
	rubyDouble           = &quote{open: `"`, close: `"`, escape: true, interpolation: "#{"}
	rubyBacktick         = &quote{open: "`", close: "`", escape: true, interpolation: "#{"}
	jsTemplate           = &quote{open: "`", close: "`", escape: true, interpolation: "${"}
)

var scriptGrammar = grammar{
	lineComments: slashComment, blockComments: cComment, quotes: []*quote{doubleQuote, singleQuote, jsTemplate},
	readLiteral: readScriptRegex, valueWords: scriptValueWords, extraWordBytes: "$",
}

// grammars has one entry for each language. Unknown has no comments.
var grammars = [language.Count]grammar{
	language.Go:         {lineComments: slashComment, blockComments: cComment, quotes: []*quote{doubleQuote, rawBacktick, singleQuote}},
	language.Python:     {lineComments: hashComment, readLiteral: readPythonString, readAfterWord: readPrefixedPythonString},
	language.JavaScript: scriptGrammar,
	language.TypeScript: scriptGrammar,
	language.Java:       {lineComments: slashComment, blockComments: cComment, quotes: []*quote{tripleQuote, doubleQuote, singleQuote}},
	language.Kotlin: {
		lineComments: slashComment, blockComments: nestedComment,
		quotes: []*quote{
			{open: `"""`, close: `"""`, greedy: true, interpolation: "${"},
			{open: `"`, close: `"`, escape: true, singleLine: true, interpolation: "${"},
			singleQuote,
			{open: "`", close: "`", singleLine: true}, // a name with blanks
		},
	},
	language.Rust: {
		lineComments: slashComment, blockComments: nestedComment, quotes: []*quote{multilineDoubleQuote},
		readLiteral: readRune, readAfterWord: readRustRawString,
	},
	language.Ruby: {
		lineComments: hashComment, quotes: []*quote{rubyDouble, multilineSingleQuote, rubyBacktick},
		readLiteral: readRubyLiteral, readAfterWord: readRubyData, valueWords: rubyValueWords,
	},
	language.PHP: {
		lineComments: []string{"//", "#"}, blockComments: cComment,
		quotes:      []*quote{{open: `"`, close: `"`, escape: true, interpolation: "{$"}, multilineSingleQuote, rawBacktick},
		readLiteral: readPHPLiteral, isNotComment: isPHPAttribute, extraWordBytes: "$",
		template: &quote{close: "<?"},
	},
	language.CSharp: {
		lineComments: slashComment, blockComments: cComment, quotes: []*quote{doubleQuote, singleQuote},
		readLiteral: readCSharpString,
	},
	language.C: {lineComments: slashComment, blockComments: cComment, quotes: []*quote{doubleQuote, singleQuote}, joinsLines: true, quotesGroupDigits: true},
	language.CPP: {
		lineComments: slashComment, blockComments: cComment, quotes: []*quote{doubleQuote, singleQuote},
		readAfterWord: readCppRawString, joinsLines: true, quotesGroupDigits: true,
	},
	language.Swift: {
		lineComments: slashComment, blockComments: nestedComment, readLiteral: readSwiftString,
		quotes: []*quote{
			{open: `"""`, close: `"""`, escape: true, interpolation: `\(`},
			{open: `"`, close: `"`, escape: true, singleLine: true, interpolation: `\(`},
		},
	},
	language.Elixir: {
		lineComments: hashComment, readLiteral: readElixirLiteral,
		quotes: []*quote{
			{open: `"""`, close: `"""`, escape: true, interpolation: "#{"},
			{open: `'''`, close: `'''`, escape: true, interpolation: "#{"},
			rubyDouble,
			{open: `'`, close: `'`, escape: true, interpolation: "#{"},
		},
	},
	language.Scala: {
		lineComments: slashComment, blockComments: nestedComment, readLiteral: readRune, readAfterWord: readScalaString,
		quotes: []*quote{{open: `"""`, close: `"""`, greedy: true}, doubleQuote},
	},
	language.Shell: {
		lineComments: hashComment, readLiteral: readShellLiteral, isNotComment: isHashInShellWord,
		quotes: []*quote{
			{open: `"`, close: `"`, escape: true, interpolation: "$("},
			{open: `'`, close: `'`},
		},
	},
}

var scriptValueWords = WordSet(`return typeof case in of delete void throw new else do instanceof yield await`)

var rubyValueWords = WordSet(`if unless while until when and or not return then elsif else in do case yield begin puts`)

// WordSet returns the set of the space-separated words.
func WordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
