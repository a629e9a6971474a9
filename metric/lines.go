package metric

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Span is a run of source lines, both ends included and counted from 1.
type Span struct{ First, Last int }

// MarshalText writes a span as "3" or "3-7".
func (s Span) MarshalText() ([]byte, error) {
	return s.appendTo(nil), nil
}

func (s Span) appendTo(text []byte) []byte {
	text = strconv.AppendInt(text, int64(s.First), 10)
	if s.Last > s.First {
		text = strconv.AppendInt(append(text, '-'), int64(s.Last), 10)
	}
	return text
}

// UnmarshalText reads what MarshalText writes.
func (s *Span) UnmarshalText(text []byte) error {
	first, last, ranged := strings.Cut(string(text), "-")
	if !ranged {
		last = first
	}
	var firstErr, lastErr error
	s.First, firstErr = strconv.Atoi(first)
	s.Last, lastErr = strconv.Atoi(last)
	return errors.Join(firstErr, lastErr)
}

// LineSet is a set of source lines as text, such as "3-7,9". It takes a few bytes for each run of
// lines, since a loop keeps those of many measurements of all files.
type LineSet string

// NewLineSet returns the lines of spans.
func NewLineSet(spans []Span) LineSet {
	text := make([]byte, 0, 6*len(spans))
	for i, s := range spans {
		if i > 0 {
			text = append(text, ',')
		}
		text = s.appendTo(text)
	}
	return LineSet(text)
}

// Spans returns the lines as spans, sorted. Text that is not a span is ignored.
func (l LineSet) Spans() []Span {
	var out []Span
	for text := range strings.SplitSeq(string(l), ",") {
		var s Span
		if s.UnmarshalText([]byte(text)) == nil {
			out = append(out, s)
		}
	}
	return UnionSpans(nil, out)
}

// Plus returns the lines that are in l or in o.
func (l LineSet) Plus(o LineSet) LineSet {
	if l == o || o == "" {
		return l
	}
	return NewLineSet(UnionSpans(l.Spans(), o.Spans()))
}

// Minus returns the lines of l that are not in o.
func (l LineSet) Minus(o LineSet) LineSet {
	if l == o {
		return ""
	}
	return NewLineSet(SubtractSpans(l.Spans(), o.Spans()))
}

// In returns the lines of l that are in o.
func (l LineSet) In(o LineSet) LineSet { return l.Minus(l.Minus(o)) }

// Count returns the number of lines.
func (l LineSet) Count() int64 { return CountLines(l.Spans()) }

// CountLines returns the number of lines in spans.
func CountLines(spans []Span) int64 {
	var n int64
	for _, s := range spans {
		n += int64(s.Last - s.First + 1)
	}
	return n
}

// UnionSpans returns the lines that are in a or in b; both must be sorted.
func UnionSpans(a, b []Span) []Span {
	spans := append(append(make([]Span, 0, len(a)+len(b)), a...), b...)
	slices.SortFunc(spans, func(x, y Span) int { return cmp.Compare(x.First, y.First) })
	out := spans[:0]
	for _, s := range spans {
		if s.First < 1 || s.Last < s.First {
			continue
		}
		if n := len(out); n > 0 && s.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, s.Last)
			continue
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil
	}
	return slices.Clip(out)
}

// SubtractSpans returns the lines of a that are not in b; both must be sorted.
func SubtractSpans(a, b []Span) []Span {
	var out []Span
	for _, s := range a {
		for len(b) > 0 && b[0].Last < s.First {
			b = b[1:]
		}
		for _, cut := range b {
			if cut.First > s.Last {
				break
			}
			if cut.First > s.First {
				out = append(out, Span{First: s.First, Last: cut.First - 1})
			}
			s.First = cut.Last + 1
		}
		if s.First <= s.Last {
			out = append(out, s)
		}
	}
	return out
}
