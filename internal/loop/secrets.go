package loop

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/runner"
)

// secretWords are how a word of a variable's name ends whose value is a secret.
// Of the others than those that say password or secret, a value that is a plain
// word is none: AUTH=required.
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

// Secrets returns the values in an environment that must not be stored: those of
// the variables whose names say so, and passwords within URLs.
func Secrets(env []string) []runner.Secret {
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

// isPath reports whether the value names a place, as that of a socket or a key's
// file. Base64 may begin with a slash, so the place has to exist.
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

// isWord reports whether the value has letters alone.
func isWord(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return (r|0x20 < 'a') || (r|0x20 > 'z') })
}

// measureMasked measures. What failures and checks say is stored and shown to the
// agent, so the secrets in it are masked.
func (s *session) measureMasked(ctx context.Context, previous *metric.Tests) (measure.Result, error) {
	res, err := s.meter.Run(ctx, previous)
	if err != nil || s.masker == nil {
		return res, err
	}
	res.Runs = s.maskedRuns(res.Runs)
	res.Set = s.maskedSet(res.Set)
	for i := range res.Parts {
		res.Parts[i].Set = s.maskedSet(res.Parts[i].Set)
	}
	return res, nil
}

// Masked returns the set with the secrets of an environment masked in its free
// texts, as a loop stores it.
func Masked(set metric.Set, env []string) metric.Set {
	s := &session{masker: runner.NewMasker(Secrets(env))}
	return s.maskedSet(set)
}

// MaskRuns masks what checks printed, in place.
func MaskRuns(m *runner.Masker, list []ledger.CheckRun) {
	for i := range list {
		r := &list[i]
		r.Output, r.Why, r.Problems = m.String(r.Output), m.String(r.Why), maskAll(m, r.Problems)
	}
}

// maskedRuns masks what the checks printed.
func (s *session) maskedRuns(list []measure.Run) []measure.Run {
	list = slices.Clone(list)
	for i := range list {
		r := &list[i]
		r.Output, r.Why, r.Problems = s.masker.String(r.Output), s.masker.String(r.Why), maskAll(s.masker, r.Problems)
	}
	return list
}

func maskAll(m *runner.Masker, list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = m.String(list[i])
	}
	return list
}

// maskedSet masks the free texts. Names stay: they identify.
func (s *session) maskedSet(set metric.Set) metric.Set {
	set.Gaps = slices.Clone(set.Gaps)
	for i := range set.Gaps {
		set.Gaps[i].Why = s.masker.String(set.Gaps[i].Why)
	}
	if set.Tests != nil {
		tests := *set.Tests
		tests.Cases, tests.Broken = slices.Clone(tests.Cases), slices.Clone(tests.Broken)
		for i := range tests.Cases {
			tests.Cases[i].Message = s.masker.String(tests.Cases[i].Message)
		}
		for i := range tests.Broken {
			tests.Broken[i].Why = s.masker.String(tests.Broken[i].Why)
		}
		tests.Failure, tests.Problems = s.masker.String(tests.Failure), maskAll(s.masker, tests.Problems)
		set.Tests = &tests
	}
	if set.Lint != nil {
		lint := *set.Lint
		lint.Findings = slices.Clone(lint.Findings)
		for i := range lint.Findings {
			f := &lint.Findings[i]
			f.Message, f.Text = s.masker.String(f.Message), s.masker.String(f.Text)
		}
		set.Lint = &lint
	}
	return set
}
