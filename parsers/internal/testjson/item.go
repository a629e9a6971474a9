package testjson

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

// item is a decoded value of a report, such as a test. Its methods return what is at a path in
// it: "error.message" is the member message of the member error, and "" the value itself. They
// accept every form in which tools write texts and numbers. A list or boolean that is something
// else is a mismatch, with which the report cannot be read.
type item struct {
	value    any
	mismatch *string // the path of the first mismatch, "" for none; shared by the items of a document
}

// at returns the value at the path. It is nil if there is none.
func (v item) at(path string) item {
	if path == "" {
		return v
	}
	for name := range strings.SplitSeq(path, ".") {
		v = v.member(name)
	}
	return v
}

// member returns the value of a member, whose name may have any text.
func (v item) member(name string) item {
	members, _ := v.value.(map[string]any)
	return item{members[name], v.mismatch}
}

// has reports whether there is a value other than null at the path.
func (v item) has(path string) bool { return v.at(path).value != nil }

// text returns the text at the path. A list gives its texts, one a line, and an object its
// members message and stack. Everything else gives "".
func (v item) text(path string) string { return textOf(v.at(path).value) }

func textOf(value any) string {
	switch x := value.(type) {
	case string:
		return x
	case []any:
		var texts []string
		for _, inner := range x {
			texts = append(texts, textOf(inner))
		}
		return joinLines(texts...)
	case map[string]any:
		return parsed.JoinMessage(textOf(x["message"]), textOf(x["stack"]))
	}
	return ""
}

// joinLines joins the texts that are not empty, one a line.
func joinLines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// message returns the texts at both paths; see [parsed.JoinMessage].
func (v item) message(message, trace string) string {
	return parsed.JoinMessage(v.text(message), v.text(trace))
}

// number returns the number at the path: 0.25, "0.25", or "0.25s". Everything else gives 0.
func (v item) number(path string) parsed.AnyNumber {
	switch x := v.at(path).value.(type) {
	case float64:
		return parsed.AnyNumber(x)
	case string:
		return parsed.ParseNumber(strings.TrimSuffix(strings.TrimSpace(x), "s"))
	}
	return 0
}

// integer returns the number at the path without its fraction, or 0 if it is below 0.
func (v item) integer(path string) int { return v.number(path).Int() }

// total returns a total that the report states at the path, -1 if it does not.
func (v item) total(path string) float64 {
	if !v.has(path) {
		return -1
	}
	return float64(v.number(path))
}

// isTrue returns the boolean at the path, false if there is none.
func (v item) isTrue(path string) bool {
	value := v.at(path).value
	is, isBool := value.(bool)
	if value != nil && !isBool {
		v.addMismatch(path)
	}
	return is
}

// list returns the items of the list at the path, none if there is no list.
func (v item) list(path string) []item {
	value := v.at(path).value
	values, isList := value.([]any)
	if value != nil && !isList {
		v.addMismatch(path)
	}
	items := make([]item, len(values))
	for i, inner := range values {
		items[i] = item{inner, v.mismatch}
	}
	return items
}

// texts returns the texts in the list at the path.
func (v item) texts(path string) []string {
	var out []string
	for _, inner := range v.list(path) {
		out = append(out, inner.text(""))
	}
	return out
}

// members returns the members of the object at the path, sorted by name.
func (v item) members(path string) iter.Seq2[string, item] {
	members, _ := v.at(path).value.(map[string]any)
	return func(yield func(string, item) bool) {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if !yield(name, item{members[name], v.mismatch}) {
				return
			}
		}
	}
}

func (v item) addMismatch(path string) {
	if *v.mismatch == "" {
		*v.mismatch = path
	}
}

// mismatchProblem is the error for the path of a mismatch.
const mismatchProblem = "the value of %s is of another kind than in reports of the tool"

// bulkyMembers are members that may be large and that no reader needs: keywords, output,
// screenshots and source code.
var bulkyMembers = map[string]bool{
	"body": true, "embeddings": true, "output": true, "attachments": true, "stdout": true, "stderr": true, "context": true, "code": true,
	"CapturedGinkgoWriterOutput": true, "CapturedStdOutErr": true, "SpecEvents": true,
}

// maxText is how many bytes a text may have before it is clipped.
const maxText = 64 << 10

// decode returns the next value without its bulky members and with long texts clipped.
func decode(j *jsonstream.Reader) (value any, err error) {
	switch j.Kind() {
	case '{':
		members := map[string]any{}
		err = j.Object(func(name string) (err error) {
			if bulkyMembers[name] {
				return j.Skip()
			}
			members[name], err = decode(j)
			return err
		})
		return members, err
	case '[':
		list := []any{}
		err = j.Array(func() error {
			inner, err := decode(j)
			list = append(list, inner)
			return err
		})
		return list, err
	}
	err = j.Value(&value)
	if text, ok := value.(string); ok && len(text) > maxText {
		value = textstream.ClipText(text)
	}
	return value, err
}

// decodeEvent returns the object in a line of a report.
func decodeEvent(raw []byte, line textstream.Line) (item, error) {
	event := item{mismatch: new(string)}
	if err := jsonstream.Unmarshal(raw, &event.value); err != nil {
		return event, line.Error("%v", err)
	}
	return event, nil
}

// eventHandler returns a function for [parsed.ReadEvents] that calls handle with each event.
func eventHandler(handle func(item, textstream.Line) error) func([]byte, textstream.Line) error {
	return func(raw []byte, line textstream.Line) error {
		event, err := decodeEvent(raw, line)
		if err != nil {
			return err
		}
		return event.checkMismatch(line, handle(event, line))
	}
}

// checkMismatch returns the error of handling an event in the line. If that is nil, it is an
// error if a value in the event is of a wrong kind.
func (v item) checkMismatch(line textstream.Line, err error) error {
	if err == nil && *v.mismatch != "" {
		err = line.Error(mismatchProblem, *v.mismatch)
	}
	return err
}
