package manifest

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PathText is a path in JSON. It also supports names that are not valid UTF-8.
type PathText string

// MarshalText encodes the path, quoted if it is not plain text.
func (p PathText) MarshalText() ([]byte, error) { return []byte(encodePath(string(p))), nil }

// UnmarshalText decodes the path.
func (p *PathText) UnmarshalText(b []byte) error {
	s, err := decodePath(string(b))
	*p = PathText(s)
	return err
}

// encodePath quotes names that are not valid, printable text.
func encodePath(p string) string {
	if p != "" && utf8.ValidString(p) && p[0] != '"' && p[0] != '[' && strings.IndexFunc(p, unicode.IsControl) < 0 {
		return p
	}
	return strconv.Quote(p)
}

// decodePath reverses encodePath.
func decodePath(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	return strconv.Unquote(s)
}

// Join returns the path of an entry of a folder; the root is "".
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Dir returns the folder that contains a path, "" for the root.
func Dir(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}
