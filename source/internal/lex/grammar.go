package lex

import (
	"strings"

	"supervise/source/internal/language"
)

// grammar is what the lexer knows about a language: how comments and texts are
// written. Hooks hold what does not fit into a row; they return true when
// they took something.
type grammar struct {
	lines      []string // marks that make the rest of the line a comment
	blocks     []block
	quotes     []*quote          // tried in order: the longer of two that begin alike first
	special    func(*lexer) bool // literals that a fixed opening cannot describe
	afterWord  func(*lexer, int) // prefixed literals; the place where the word starts
	noComment  func(*lexer) bool // a line mark that does not count here
	operators  map[string]bool   // Words after which a value begins
	outside    *quote            // text around the code, in PHP
	wordBytes  string            // more bytes that words are made of
	continued  bool              // a backslash joins lines, even of comments
	digitQuote bool              // single quotes group digits
}

// block is a comment with its own end.
type block struct {
	open, close string
	nested      bool
}

func (g *grammar) isWord(c byte) bool {
	return isAlnum(c) || c == '_' || c >= 0x80 || (g.wordBytes != "" && strings.IndexByte(g.wordBytes, c) >= 0)
}

// wordBytes says of each byte whether words of a language are made of it.
var wordBytes = func() (out [language.Count]*[256]bool) {
	for lang := range out {
		out[lang] = &[256]bool{}
		for c := range out[lang] {
			out[lang][c] = grammars[lang].isWord(byte(c))
		}
	}
	return out
}()

var (
	slashes    = []string{"//"}
	hash       = []string{"#"}
	cBlock     = []block{{open: "/*", close: "*/"}}
	nestBlock  = []block{{open: "/*", close: "*/", nested: true}}
	dquote     = &quote{open: `"`, close: `"`, escape: true, line: true}
	squote     = &quote{open: `'`, close: `'`, escape: true, line: true}
	dquoteLong = &quote{open: `"`, close: `"`, escape: true}
	squoteLong = &quote{open: `'`, close: `'`, escape: true}
	tripleText = &quote{open: `"""`, close: `"""`, escape: true}
	rawTick    = &quote{open: "`", close: "`"}
	rubyDouble = &quote{open: `"`, close: `"`, escape: true, interp: "#{"}
	rubyTick   = &quote{open: "`", close: "`", escape: true, interp: "#{"}
	jsTemplate = &quote{open: "`", close: "`", escape: true, interp: "${"}
)

var scriptGrammar = grammar{
	lines: slashes, blocks: cBlock, quotes: []*quote{dquote, squote, jsTemplate},
	special: scriptSpecial, operators: scriptOperators, wordBytes: "$",
}

// grammars has one row for each language; Unknown has no comments.
var grammars = [language.Count]grammar{
	language.Go:         {lines: slashes, blocks: cBlock, quotes: []*quote{dquote, rawTick, squote}},
	language.Python:     {lines: hash, special: pythonSpecial, afterWord: pythonWord},
	language.JavaScript: scriptGrammar,
	language.TypeScript: scriptGrammar,
	language.Java:       {lines: slashes, blocks: cBlock, quotes: []*quote{tripleText, dquote, squote}},
	language.Kotlin: {
		lines: slashes, blocks: nestBlock,
		quotes: []*quote{
			{open: `"""`, close: `"""`, greedy: true, interp: "${"},
			{open: `"`, close: `"`, escape: true, line: true, interp: "${"},
			squote,
			{open: "`", close: "`", line: true}, // a name with blanks
		},
	},
	language.Rust: {
		lines: slashes, blocks: nestBlock, quotes: []*quote{dquoteLong},
		special: runeSpecial, afterWord: rustWord,
	},
	language.Ruby: {
		lines: hash, quotes: []*quote{rubyDouble, squoteLong, rubyTick},
		special: rubySpecial, afterWord: rubyWord, operators: rubyOperators,
	},
	language.PHP: {
		lines: []string{"//", "#"}, blocks: cBlock,
		quotes:  []*quote{{open: `"`, close: `"`, escape: true, interp: "{$"}, squoteLong, rawTick},
		special: phpSpecial, noComment: phpAttribute, wordBytes: "$",
		outside: &quote{close: "<?"},
	},
	language.CSharp: {
		lines: slashes, blocks: cBlock, quotes: []*quote{dquote, squote},
		special: csharpSpecial,
	},
	language.C: {lines: slashes, blocks: cBlock, quotes: []*quote{dquote, squote}, continued: true, digitQuote: true},
	language.CPP: {
		lines: slashes, blocks: cBlock, quotes: []*quote{dquote, squote},
		afterWord: cppWord, continued: true, digitQuote: true,
	},
	language.Swift: {
		lines: slashes, blocks: nestBlock, special: swiftSpecial,
		quotes: []*quote{
			{open: `"""`, close: `"""`, escape: true, interp: `\(`},
			{open: `"`, close: `"`, escape: true, line: true, interp: `\(`},
		},
	},
	language.Elixir: {
		lines: hash, special: elixirSpecial,
		quotes: []*quote{
			{open: `"""`, close: `"""`, escape: true, interp: "#{"},
			{open: `'''`, close: `'''`, escape: true, interp: "#{"},
			rubyDouble,
			{open: `'`, close: `'`, escape: true, interp: "#{"},
		},
	},
	language.Scala: {
		lines: slashes, blocks: nestBlock, special: runeSpecial, afterWord: scalaWord,
		quotes: []*quote{{open: `"""`, close: `"""`, greedy: true}, dquote},
	},
	language.Shell: {
		lines: hash, special: shellSpecial, noComment: shellHash,
		quotes: []*quote{
			{open: `"`, close: `"`, escape: true, interp: "$("},
			{open: `'`, close: `'`},
		},
	},
}

var scriptOperators = WordSet(`return typeof case in of delete void throw new else do instanceof yield await`)

var rubyOperators = WordSet(`if unless while until when and or not return then elsif else in do case yield begin puts`)

// WordSet makes a set of the words of a list.
func WordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
