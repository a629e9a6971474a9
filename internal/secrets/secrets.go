// Package secrets finds the secrets in an environment ([FromEnv]) and masks them ([Mask]) in
// everything that is stored or shown: the output of checks, failure messages, lint findings.
package secrets

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"supervise/runner"
)

// secretSuffixes are the endings of words in the names of variables that hold secrets. A
// plain word, as in AUTH=required, is a secret only if the ending means a password.
var secretSuffixes = []struct {
	suffix     string
	plainWords bool // the secret may be a plain word
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

// FromEnv returns the values in an environment that must not be stored: the values of
// variables whose names mark them as secrets, and passwords in URLs.
func FromEnv(env []string) []runner.Secret {
	var list []runner.Secret
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if isSecret(name, value) {
			list = append(list, runner.Secret{Name: name, Value: value})
		} else if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				list = append(list, runner.Secret{Name: name, Value: password})
			}
		}
	}
	return list
}

// isSecret reports whether the value of a variable is a secret, by its name.
func isSecret(name, value string) bool {
	isSeparator := func(r rune) bool { return r == '_' || r == '-' || r == '.' }
	for word := range strings.FieldsFuncSeq(strings.ToUpper(name), isSeparator) {
		for _, s := range secretSuffixes {
			if strings.HasSuffix(word, s.suffix) {
				return !isPath(value) && (s.plainWords || !isWord(value))
			}
		}
	}
	return false
}

// isPath reports whether the value is a path, for example of a socket or a key file. Base64
// may start with a slash, so some folder of the path must exist.
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
