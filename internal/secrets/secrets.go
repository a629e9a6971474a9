// Package secrets finds the secrets in an environment and masks them in what is
// stored or shown: the output of checks, failure messages, lint findings.
package secrets

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"supervise/runner"
)

// secretWords are the endings of words in the names of variables that hold secrets. A
// value that is a plain word, as in AUTH=required, is a secret only after the endings
// that mean a password or a secret.
var secretWords = []struct {
	end   string
	words bool // a plain word may be the secret
}{
	{"PASSWORD", true},
	{"PASSWD", true},
	{"PASSPHRASE", true},
	{"SECRET", true},
	{"PASS", true},
	{"KEY", false},
	{"TOKEN", false},
	{"CREDENTIAL", false},
	{"CREDENTIALS", false},
	{"AUTH", false},
	{"KEYS", false},
	{"TOKENS", false},
	{"SECRETS", false},
	{"PAT", false},
	{"COOKIE", false},
}

// FromEnv returns the values in an environment that must not be stored: those of
// variables whose names mark them as secrets, and passwords within URLs.
func FromEnv(env []string) []runner.Secret {
	var list []runner.Secret
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if secretValue(name, value) {
			list = append(list, runner.Secret{Name: name, Value: value})
		} else if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				list = append(list, runner.Secret{Name: name, Value: password})
			}
		}
	}
	return list
}

func secretValue(name, value string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToUpper(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		for _, s := range secretWords {
			if strings.HasSuffix(word, s.end) {
				return !isPath(value) && (s.words || !isWord(value))
			}
		}
	}
	return false
}

// isPath reports whether the value is a path, as of a socket or a key file. Base64 may
// begin with a slash, so some folder of the path has to exist.
func isPath(value string) bool {
	if !filepath.IsAbs(value) {
		return strings.HasPrefix(value, "~/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../")
	}
	for dir := value; len(dir) > 1; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			return true
		}
	}
	return false
}

// isWord reports whether the value has only letters.
func isWord(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return (r|0x20 < 'a') || (r|0x20 > 'z') })
}
