package parsers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxJSONValue bounds the memory that one value of a JSON report can take.
const maxJSONValue = 32 << 20

var errValueTooLong = fmt.Errorf("one value is longer than %d MiB: no report is like that", maxJSONValue>>20)

// jsonReader reads a JSON report value by value, in bounded memory.
type jsonReader struct {
	*json.Decoder
	src *rationed
}

// rationed gives out no more than a ration of bytes until it is renewed.
type rationed struct {
	src  io.Reader
	left int
}

// Read implements [io.Reader].
func (r *rationed) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errValueTooLong
	}
	n, err := r.src.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

func newJSONReader(r io.Reader) *jsonReader {
	src := &rationed{src: r, left: maxJSONValue}
	return &jsonReader{json.NewDecoder(src), src}
}

// value decodes the next value.
func (j *jsonReader) value(v any) error {
	j.src.left = maxJSONValue
	return j.fault(j.Decode(v))
}

// open takes the delimiter that opens an object or a list. It reports false
// for null, which stands for an empty one.
func (j *jsonReader) open(want json.Delim) (bool, error) {
	j.src.left = maxJSONValue
	t, err := j.Token()
	switch {
	case err != nil:
		return false, j.fault(err)
	case t == nil:
		return false, nil
	case t != want:
		return false, j.syntax(fmt.Sprintf("%v stands where %v should", t, want))
	}
	return true, nil
}

// members calls f with the name of every member of the next object; f takes
// its value.
func (j *jsonReader) members(f func(name string) error) error {
	some, err := j.open('{')
	if err != nil || !some {
		return err
	}
	for j.More() {
		name, err := j.Token()
		if err != nil {
			return j.fault(err)
		}
		if err := f(fmt.Sprint(name)); err != nil {
			return err
		}
	}
	_, err = j.Token()
	return j.fault(err)
}

// items calls f for every item of the next list; f takes it.
func (j *jsonReader) items(f func() error) error {
	some, err := j.open('[')
	if err != nil || !some {
		return err
	}
	for j.More() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err = j.Token()
	return j.fault(err)
}

// skip takes the next value and drops it.
func (j *jsonReader) skip() error {
	var v json.RawMessage
	return j.value(&v)
}

// fault names the place of an error of the decoder.
func (j *jsonReader) fault(err error) error {
	var typed *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return j.syntax("the report ends in the middle of a value: the tool was stopped, or its output was cut off")
	case errors.As(err, &typed), errors.As(err, &syntax), errors.Is(err, errValueTooLong):
		return j.syntax(err.Error())
	}
	return fmt.Errorf("read report: %w", err)
}

func (j *jsonReader) syntax(problem string) error {
	return &SyntaxError{Offset: j.InputOffset(), Problem: problem}
}
