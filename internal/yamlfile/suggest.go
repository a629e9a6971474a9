package yamlfile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"supervise/internal/regexp"

	"github.com/goccy/go-yaml"
)

// unknownKeyPattern finds the name of an unknown key in the error about it.
var unknownKeyPattern = regexp.MustCompile(`unknown field "([^"]+)"`)

// suggestKey names the known key closest to an unknown one, or the page that lists the keys if
// none is close. It is "" for another error.
func suggestKey(err error, into any, reference string) string {
	unknown, ok := errors.AsType[*yaml.UnknownFieldError](err)
	if !ok {
		return ""
	}
	m := unknownKeyPattern.FindStringSubmatch(unknown.Error())
	if m == nil {
		return ""
	}
	best, least := "", len(m[1])/3+2
	for _, key := range keysOf(reflect.TypeOf(into), map[reflect.Type]bool{}) {
		if d := editDistance(m[1], key); d < least {
			best, least = key, d
		}
	}
	if best == "" {
		return "\nthe keys are in " + reference
	}
	return fmt.Sprintf("\ndid you mean %s?", best)
}

// keysOf lists the names of all keys of a type, including nested ones.
func keysOf(t reflect.Type, seen map[reflect.Type]bool) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return keysOf(t.Elem(), seen)
	case reflect.Struct:
	default:
		return nil
	}
	if seen[t] {
		return nil
	}
	seen[t] = true
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
			out = append(append(out, name), keysOf(f.Type, seen)...)
		}
	}
	return out
}

// editDistance is the number of letters to insert, remove, change, or swap with the next one to turn
// one word into another (the optimal string alignment distance).
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
