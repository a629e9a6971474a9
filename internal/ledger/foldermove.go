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

// FolderMove is a folder that was moved after its path was written to a file.
type FolderMove struct{ From, To string }

// settingsRoot returns the working tree that settings were written for, "" if they name none.
func settingsRoot(settings []byte) string {
	var s struct {
		Root string `json:"root"`
	}
	if json.Unmarshal(settings, &s) != nil {
		return ""
	}
	return s.Root
}

// applyMoves replaces the paths of moved folders in all strings of a JSON document, also
// within commands. Names that only start with such a path are not changed.
func applyMoves(text []byte, moves ...FolderMove) ([]byte, error) {
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
	return json.Marshal(mapTexts(v, func(s string) string {
		for _, m := range moves {
			s = replacePath(s, m.From, m.To)
		}
		return s
	}))
}

// mapTexts applies change to all strings in v.
func mapTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = mapTexts(v[i], change)
		}
	case map[string]any:
		for k := range v {
			v[k] = mapTexts(v[k], change)
		}
	}
	return v
}

// replacePath replaces the folder from by to in a text, where it is a complete path or its start.
func replacePath(s, from, to string) string {
	var out strings.Builder
	for remaining := s; ; {
		i := strings.Index(remaining, from)
		if i < 0 {
			out.WriteString(remaining)
			return out.String()
		}
		before, _ := utf8.DecodeLastRuneInString(s[:len(s)-len(remaining)+i])
		after, _ := utf8.DecodeRuneInString(remaining[i+len(from):])
		replacement := to
		if isNameChar(before) || before == '/' || isNameChar(after) {
			replacement = from
		}
		out.WriteString(remaining[:i])
		out.WriteString(replacement)
		remaining = remaining[i+len(from):]
	}
}

// isNameChar reports whether a character next to a path belongs to a file name. The end of
// the text is passed as [utf8.RuneError].
func isNameChar(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r))
}
