package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FolderMove is a folder that lies elsewhere than when something was written of it.
type FolderMove struct{ From, To string }

// rootOf is the working tree that settings were written for, "" where they name none.
func rootOf(settings []byte) string {
	var s struct {
		Root string `json:"root"`
	}
	if json.Unmarshal(settings, &s) != nil {
		return ""
	}
	return s.Root
}

// moved returns JSON in whose texts what lay in a folder lies where that is now: paths of it,
// also within commands, and nothing whose name only begins like it.
func moved(text []byte, moves ...FolderMove) ([]byte, error) {
	moves = slices.DeleteFunc(slices.Clone(moves), func(m FolderMove) bool { return m.From == "" || m.From == m.To })
	if len(moves) == 0 {
		return text, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return json.Marshal(inTexts(v, func(s string) string {
		for _, m := range moves {
			s = movedText(s, m.From, m.To)
		}
		return s
	}))
}

// inTexts returns v with all texts in it changed.
func inTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = inTexts(v[i], change)
		}
	case map[string]any:
		for k := range v {
			v[k] = inTexts(v[k], change)
		}
	}
	return v
}

func movedText(s, from, to string) string {
	var out strings.Builder
	for rest := s; ; {
		i := strings.Index(rest, from)
		if i < 0 {
			out.WriteString(rest)
			return out.String()
		}
		before, _ := utf8.DecodeLastRuneInString(s[:len(s)-len(rest)+i])
		after, _ := utf8.DecodeRuneInString(rest[i+len(from):])
		found := to
		if inName(before) || before == '/' || inName(after) {
			found = from
		}
		out.WriteString(rest[:i])
		out.WriteString(found)
		rest = rest[i+len(from):]
	}
}

// inName reports whether a character next to a path is a part of a name. At the end of a text
// there is none, which counts as [utf8.RuneError].
func inName(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r))
}
