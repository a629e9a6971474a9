// Package naming reads the names that test runners give to tests, and how they name the
// files of tests.
package naming

import (
	"path"
	"strings"
	"unicode"

	"supervise/internal/regexp"
)

// LastWord returns what follows the last blank: "adds" of "cart adds".
func LastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// separators replaces what runners write between groups, and before a title, by a blank.
var separators = strings.NewReplacer(" > ", " ", " › ", " ", " » ", " ", " / ", " ")

// Plain returns a name with groups and title separated by a blank: "cart adds" of "cart > adds".
func Plain(name string) string {
	if !strings.ContainsFunc(name, unicode.IsSpace) {
		return name // fast path for most names
	}
	return strings.Join(strings.Fields(separators.Replace(name)), " ")
}

// FunctionNames returns the possible names of the function of a test, without parameters: with and
// without package and class. For "Cart.test_add[1]" they are "Cart.test_add" and "test_add".
func FunctionNames(name string) []string {
	name, _, _ = strings.Cut(name, " with data set ")
	if i := strings.IndexAny(name, "[({"); i >= 0 {
		name = name[:i]
	}
	name = strings.TrimSpace(name)
	if name == "" {
		return nil
	}
	return []string{name, name[strings.LastIndexAny(name, `.#:\`)+1:]}
}

// placeholderRE matches a placeholder in the title of a test with rows, such as %d or $name.
var placeholderRE = regexp.MustCompile(`%[a-zA-Z#$%]|\$[A-Za-z_#][\w.]*`)

// RowPattern returns an expression that matches the names of the rows of a test: that of the title
// "adds %d" matches "adds 3". It is nil for a title without placeholders.
func RowPattern(title string) *regexp.Regexp {
	places := placeholderRE.FindAllStringIndex(title, -1)
	if len(places) == 0 || len(places) > 20 {
		return nil
	}
	var b strings.Builder
	from := 0
	for _, loc := range places {
		b.WriteString(regexp.QuoteMeta(title[from:loc[0]]) + ".*")
		from = loc[1]
	}
	rows, err := regexp.Compile(`(?s)(?:^| )` + b.String() + regexp.QuoteMeta(title[from:]) + `$`)
	if err != nil { // if the title is not valid UTF-8
		return nil
	}
	return rows
}

// SplitPath splits a suite or class into its parts: com, shop and Cart of "com.shop.Cart".
func SplitPath(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(`./\:$#+> `, r) })
}

// FileRank returns how well a suite or class names a file: 2 by its path or its modules, 1 only by
// its base name, 0 not at all. "shop.test_cart" names tests/test_cart.py by its base name.
func FileRank(text, file string) int {
	if text == "" {
		return 0
	}

	p := strings.TrimPrefix(strings.ReplaceAll(text, `\`, "/"), "./")
	if p == file || strings.HasSuffix(p, "/"+file) || strings.HasSuffix(file, "/"+p) {
		return 2
	}

	names := SplitPath(text)
	folders := strings.Split(strings.TrimSuffix(file, path.Ext(file)), "/")
	stem, folders := folders[len(folders)-1], folders[:len(folders)-1]
	fit := 0
	for i := len(names) - 1; i >= 0; i-- {
		if !strings.EqualFold(names[i], stem) {
			continue
		}
		n := 0
		for n < min(i, len(folders)) && strings.EqualFold(names[i-1-n], folders[len(folders)-1-n]) {
			n++
		}
		if n == min(i, len(folders)) {
			return 2
		}
		fit = 1
	}

	return fit
}
