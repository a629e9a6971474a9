package seal

import (
	"bytes"
	"slices"
	"strings"

	"supervise/internal/evidence"
	"supervise/source"
)

// merge returns current, a version of the sealed file that was changed, with the cuts restored where they
// were. It returns false if a place of a cut cannot be found, or a test would be defined twice.
func (f File) merge(original, current []byte) ([]byte, bool) {
	sealed, exists := f.apply(original)
	switch {
	case bytes.Equal(current, original):
		return original, true
	case !exists:
		return nil, false
	case bytes.Equal(current, sealed):
		return original, true
	}
	before, now := splitLines(sealed), splitLines(current)
	places := match(before, now)
	inserted := make([][]string, len(now)+1) // before each line
	replaced := make([]int, len(now))        // 1: the line is replaced by what is inserted before it
	for _, h := range f.hunks(original) {
		if count(now, h.text) > count(before, h.text) {
			continue // it is there again
		}
		at, ok := h.place(before, now, places)
		if !ok {
			return nil, false
		}
		inserted[at] = append(inserted[at], h.text...)
		for i := range h.to - h.from {
			replaced[at+i] = 1
		}
	}
	var out []string
	for i, text := range inserted {
		if n := len(out); len(text) > 0 && n > 0 && !strings.HasSuffix(out[n-1], "\n") {
			out[n-1] += "\n"
		}
		out = append(out, text...)
		if i < len(now) && replaced[i] == 0 {
			out = append(out, now[i])
		}
	}
	merged := []byte(strings.Join(out, ""))
	return merged, f.isComplete(original, current, merged)
}

// isComplete reports whether a merged file defines each test of the original that its current version
// does not define, and those of the current version, once.
func (f File) isComplete(original, current, merged []byte) bool {
	if strings.HasSuffix(f.Path, ".go") {
		if _, err := source.Scan(f.Path, merged); err != nil {
			return false
		}
	}
	sealed, _ := f.apply(original)
	want := f.definitions(current)
	visible := f.definitions(sealed)
	for name, n := range f.definitions(original) {
		if cut := n - visible[name]; cut > 0 {
			if want[name] > visible[name] && want[name] != n {
				return false
			}
			want[name] = max(want[name], n)
		}
	}
	got := f.definitions(merged)
	for name, n := range want {
		if got[name] != n {
			return false
		}
	}
	return true
}

// definitions counts the tests that a text of the file defines, by name.
func (f File) definitions(text []byte) map[string]int {
	out := map[string]int{}
	for _, t := range evidence.TestsIn(f.Path, text) {
		out[t.Def.Class+"\x00"+t.Def.Name]++
	}
	return out
}

// hunk is a difference between the sealed file and the original, in complete lines.
type hunk struct {
	from, to int      // lines of the sealed file that are replaced
	text     []string // lines of the original
}

// hunks returns the differences of the original.
func (f File) hunks(original []byte) (out []hunk) {
	lineOf := func(at int) int { return bytes.Count(original[:at], []byte("\n")) }
	start := func(at int) int { return bytes.LastIndexByte(original[:at], '\n') + 1 }
	removed := 0 // lines that earlier cuts removed
	for i := 0; i < len(f.Cuts); {
		from, to := start(f.Cuts[i].From), f.Cuts[i].To
		kept := f.Cuts[i].From - from // bytes of the lines that are not cut
		cut := bytes.Count(original[f.Cuts[i].From:f.Cuts[i].To], []byte("\n"))
		for i++; i < len(f.Cuts) && start(f.Cuts[i].From) <= to && (kept > 0 || start(to) != to); i++ { // on the same line
			kept += f.Cuts[i].From - to
			cut += bytes.Count(original[f.Cuts[i].From:f.Cuts[i].To], []byte("\n"))
			to = f.Cuts[i].To
		}
		h := hunk{from: lineOf(from) - removed}
		h.to = h.from
		if kept > 0 || start(to) != to && to < len(original) {
			to = lineEnd(original, to)
			h.to++
		}
		h.text = splitLines(original[from:to])
		removed += cut
		out = append(out, h)
	}
	return out
}

// place returns the line of the current file before which the hunk is inserted, or from which on it
// replaces lines.
func (h hunk) place(before, now []string, places []int) (int, bool) {
	if h.to > h.from {
		for i := h.from; i < h.to; i++ {
			if places[i] < 0 || places[i] != places[h.from]+i-h.from {
				return 0, false
			}
		}
		return places[h.from], true
	}
	next := h.from
	for next < len(before) && isEmpty(before[next]) {
		next++
	}
	if next == len(before) {
		return h.placeAtEnd(before, now, places)
	}
	if at := places[next] - (next - h.from); at >= 0 && places[h.from] == at {
		return at, true // with the empty lines that followed
	}
	return places[next], places[next] >= 0
}

// placeAtEnd is place for a hunk after which the sealed file has no text.
func (h hunk) placeAtEnd(before, now []string, places []int) (int, bool) {
	last, depth := h.from-1, indent(firstText(h.text))
	for last >= 0 && isEmpty(before[last]) {
		last--
	}
	if last < 0 || places[last] < 0 {
		return len(now), last < 0 || depth == 0
	}
	after := places[last] + 1
	if follows := firstText(now[after:]); follows != "" && indent(follows) > depth {
		return len(now), depth == 0
	}
	if at := after + h.from - 1 - last; places[h.from-1] == at-1 {
		after = at // with the empty lines that preceded
	}
	return after, true
}

func isEmpty(line string) bool { return strings.TrimSpace(line) == "" }

// firstText returns the first line that is not empty, "" if there is none.
func firstText(lines []string) string {
	for _, l := range lines {
		if !isEmpty(l) {
			return l
		}
	}
	return ""
}

// maxCompared is the most pairs of lines that are compared.
const maxCompared = 25_000_000

// match returns the place of each line of a in b, -1 if it is not there: the longest common subsequence.
func match(a, b []string) []int {
	out := slices.Repeat([]int{-1}, len(a))
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		out[start] = start
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
		out[endA] = endB
	}
	for i, at := range matchMiddle(a[start:endA], b[start:endB]) {
		if at >= 0 {
			out[start+i] = start + at
		}
	}
	return out
}

// matchMiddle is match without a shortcut, nil for long texts.
func matchMiddle(a, b []string) []int {
	if len(a)*len(b) > maxCompared {
		return nil
	}
	out := slices.Repeat([]int{-1}, len(a))
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width) // of the longest common subsequence from a[i] and b[j] on
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out[i] = j
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// count returns how often the lines occur in a file, one after another.
func count(file, text []string) (n int) {
	for i := 0; i+len(text) <= len(file); i++ {
		if slices.Equal(file[i:i+len(text)], text) {
			n++
		}
	}
	return n
}

// splitLines returns the lines of a text with their line breaks.
func splitLines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }
