// Package naming reads the names that runners give to tests, and where they say that a
// test stands.
package naming

import (
	"path"
	"strings"
	"unicode"

	"supervise/internal/regexp"
)

// LastWord returns what follows the last blank.
func LastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// separators are what runners write between groups, and before a title.
var separators = strings.NewReplacer(" > ", " ", " › ", " ", " » ", " ", " / ", " ")

// Plain returns a name with groups and title separated by a blank.
func Plain(name string) string {
	if !strings.ContainsFunc(name, unicode.IsSpace) {
		return name // most names; the rest is slow
	}
	return strings.Join(strings.Fields(separators.Replace(name)), " ")
}

// Own returns what may be the name of the function that belongs to that of a test:
// without parameters, and without package and class.
func Own(name string) []string {
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

// hole is the place of a value in the title of a test with rows.
var hole = regexp.MustCompile(`%[a-zA-Z#$%]|\$[A-Za-z_#][\w.]*`)

// Rows returns what matches the names of the rows of a test, nil for a title that has
// no place for values.
func Rows(title string) *regexp.Regexp {
	places := hole.FindAllStringIndex(title, -1)
	if len(places) == 0 || len(places) > 20 {
		return nil
	}
	var b strings.Builder
	from := 0
	for _, at := range places {
		b.WriteString(regexp.QuoteMeta(title[from:at[0]]) + ".*")
		from = at[1]
	}
	rows, err := regexp.Compile(`(?s)(?:^| )` + b.String() + regexp.QuoteMeta(title[from:]) + `$`)
	if err != nil { // a title that is no text
		return nil
	}
	return rows
}

// Parts splits the place of a test, as runners write it.
func Parts(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(`./\:$#+> `, r) })
}

// RefersTo says how well a suite or class names a file: 2 by its path or by the
// modules down to it, 1 by its name alone, 0 not.
func RefersTo(text, file string) int {
	if text == "" {
		return 0
	}
	p := strings.TrimPrefix(strings.ReplaceAll(text, `\`, "/"), "./")
	if p == file || strings.HasSuffix(p, "/"+file) || strings.HasSuffix(file, "/"+p) {
		return 2
	}
	names := Parts(text)
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
