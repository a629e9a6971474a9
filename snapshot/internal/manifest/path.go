package manifest

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PathText is a path inside JSON, which alone could not hold names that are not UTF-8.
type PathText string

// MarshalText quotes names that are not plain text.
func (p PathText) MarshalText() ([]byte, error) { return []byte(encodePath(string(p))), nil }

// UnmarshalText is the reverse of MarshalText.
func (p *PathText) UnmarshalText(b []byte) error {
	s, err := decodePath(string(b))
	*p = PathText(s)
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

// Join is the path of an entry of a folder; the root is "".
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Dir is the folder that a path lies in, "" for the root.
func Dir(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}
