package lex

import (
	"strings"

	"supervise/source/internal/language"
)

// grammar describes how the comments and literals of a language are written. Its functions read
// what the tables cannot describe. They return true if they consumed something.
type grammar struct {
	lineComments      []string          // marks that start a comment up to the end of the line
	blockComments     []blockComment    // comments with an end mark
	quotes            []*quote          // tried in order, so a longer opening precedes its prefix
	readLiteral       func(*lexer) bool // reads literals without a fixed opening
	readAfterWord     func(*lexer, int) // reads literals after a prefix, such as r"…"; gets the offset of the word
	isNotComment      func(*lexer) bool // reports whether the mark of a line comment does not start one here
	valueWords        map[string]bool   // words after which a value starts, so that a slash does not divide
	template          *quote            // the text around the code, as in PHP; nil for none
	extraWordBytes    string            // bytes that words may contain in addition to letters, digits and _
	joinsLines        bool              // a backslash joins lines, even those of comments
	quotesGroupDigits bool              // single quotes group digits, as in 1'000'000
}

// blockComment is a kind of comment with an end mark.
type blockComment struct {
	// open and close are the marks around the comment, such as /* and */.
	open, close string
	nested      bool // comments of this kind may contain each other
}

// isWord reports whether c can be part of a word. Every byte beyond ASCII can.
func (g *grammar) isWord(c byte) bool {
	return isAlnum(c) || c == '_' || c >= 0x80 || (g.extraWordBytes != "" && strings.IndexByte(g.extraWordBytes, c) >= 0)
}

// wordByteTables hold the result of isWord for every byte, by language.
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

// scriptGrammar is the grammar of JavaScript and TypeScript.
var scriptGrammar = grammar{
	lineComments: slashComment, blockComments: cComment, quotes: []*quote{doubleQuote, singleQuote, jsTemplate},
	readLiteral: readScriptRegex, valueWords: scriptValueWords, extraWordBytes: "$",
}

// grammars are the grammars of all languages. Unknown has no comments and no strings.
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
			{open: "`", close: "`", singleLine: true}, // a name with spaces
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

// scriptValueWords are the keywords of JavaScript after which a value starts: the slash of
// "return /x/" opens a regular expression.
var scriptValueWords = WordSet(`return typeof case in of delete void throw new else do instanceof yield await`)

// rubyValueWords are the same for Ruby.
var rubyValueWords = WordSet(`if unless while until when and or not return then elsif else in do case yield begin puts`)

// WordSet returns the set of the space-separated words.
func WordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
