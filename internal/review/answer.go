package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"supervise/internal/ledger"
	"supervise/internal/textstream"
)

// Answer is what a reviewer answers.
type Answer struct {
	Verdict  ledger.ReviewVerdict
	Findings []ledger.ReviewFinding
}

// The bounds of an answer.
const (
	maxFindings = 50
	maxReason   = 1003 // bytes
)

// errNoAnswer is wrapped by the errors of [Read].
var errNoAnswer = errors.New("the answer does not match the schema")

// ParseAnswer reads the one object among the lines of a message that has the form of an
// answer. Everything else is an error: an answer that is not understood is none, and
// never an approval. A message that holds two different answers is refused as well, for
// one may be quoted from the change.
func ParseAnswer(message string) (Answer, error) {
	var found *Answer
	for _, text := range answerObjects(message) {
		a, err := decodeAnswer(text)
		switch {
		case err != nil:
			return Answer{}, fmt.Errorf("%w: %w", errNoAnswer, err)
		case found != nil && !reflect.DeepEqual(*found, a):
			return Answer{}, fmt.Errorf("%w: there are several answers", errNoAnswer)
		}
		found = &a
	}
	if found == nil {
		return Answer{}, fmt.Errorf("%w: there is no JSON object with a verdict", errNoAnswer)
	}
	return *found, nil
}

// answerObjects are the JSON objects of a message that begin a line and have a verdict.
func answerObjects(message string) []json.RawMessage {
	var out []json.RawMessage
	for remaining := message; remaining != ""; {
		line, after, _ := strings.Cut(remaining, "\n")
		d := json.NewDecoder(strings.NewReader(remaining))
		var object map[string]json.RawMessage
		if !strings.HasPrefix(strings.TrimSpace(line), "{") || d.Decode(&object) != nil {
			remaining = after
			continue
		}
		text := remaining[:d.InputOffset()]
		if _, ok := object["verdict"]; ok {
			out = append(out, json.RawMessage(text))
		}
		remaining = remaining[len(text):]
	}
	return out
}

// decodeAnswer reads one answer.
func decodeAnswer(text []byte) (Answer, error) {
	var in struct {
		Verdict  *ledger.ReviewVerdict
		Findings *[]struct {
			File   *string
			Line   *int
			Reason *string
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil && !errors.Is(err, io.EOF) {
		return Answer{}, err
	}
	if in.Verdict == nil || in.Findings == nil {
		return Answer{}, errors.New("verdict and findings are needed")
	}
	out := Answer{Verdict: *in.Verdict}
	for i, f := range *in.Findings {
		switch {
		case i == maxFindings:
			return Answer{}, fmt.Errorf("more than %d findings", maxFindings)
		case f.File == nil || f.Line == nil || f.Reason == nil || strings.TrimSpace(*f.Reason) == "" || *f.Line < 0:
			return Answer{}, fmt.Errorf("finding %d needs a file, a line and a reason", i+1)
		}
		if file := filepath.FromSlash(*f.File); !filepath.IsLocal(file) {
			return Answer{}, fmt.Errorf("%s is not in the project", shorten(*f.File))
		}
		out.Findings = append(out.Findings, ledger.ReviewFinding{File: path.Clean(*f.File), Line: *f.Line, Reason: shorten(*f.Reason)})
	}
	return out, out.validate()
}

// validate refuses a verdict that its findings do not go with.
func (a Answer) validate() error {
	isOK, isBad := a.Verdict == ledger.ReviewOK, a.Verdict == ledger.ReviewConcerns || a.Verdict == ledger.ReviewGaming
	switch hasFindings := len(a.Findings) > 0; {
	case !isOK && !isBad:
		return fmt.Errorf("the verdict is %q", shorten(string(a.Verdict)))
	case isOK && hasFindings:
		return errors.New("the verdict is ok, and there are findings")
	case isBad && !hasFindings:
		return fmt.Errorf("the verdict is %s, and there is no finding", a.Verdict)
	}
	return nil
}

// shorten is a text on one line, and not too long.
func shorten(text string) string {
	return textstream.Truncate(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "), maxReason)
}
