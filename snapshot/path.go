package snapshot

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pathText is a path inside JSON, which alone could not hold names that are not UTF-8.
type pathText string

// MarshalText quotes names that are not plain text.
func (p pathText) MarshalText() ([]byte, error) { return []byte(encodePath(string(p))), nil }

// UnmarshalText is the reverse of MarshalText.
func (p *pathText) UnmarshalText(b []byte) error {
	s, err := decodePath(string(b))
	*p = pathText(s)
	return err
}

// encodePath makes any file name fit on one line of text.
func encodePath(p string) string {
	if p != "" && utf8.ValidString(p) && p[0] != '"' && p[0] != '[' && strings.IndexFunc(p, unicode.IsControl) < 0 {
		return p
	}
	return strconv.Quote(p)
}

func decodePath(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	return strconv.Unquote(s)
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func dirOf(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}
