package coverage

import (
	"cmp"
	"slices"

	"supervise/metric"
)

// marks is a set of numbered things, each hit or not. They are added in any
// order and as often as they are named; one hit is enough. It takes eight bytes
// for each.
type marks struct {
	list      []uint64 // number<<1 | hit
	unsorted  bool     // the list is not in order, or has a number twice
	sortedLen int      // how long it was when it was put in order last
}

// add adds a number below 1<<63.
func (m *marks) add(number uint64, hit bool) {
	mark := number << 1
	if hit {
		mark |= 1
	}
	if n := len(m.list); n > 0 && m.list[n-1]>>1 >= number {
		if m.list[n-1]>>1 == number {
			m.list[n-1] |= mark
			return
		}
		m.unsorted = true
	}
	m.list = append(m.list, mark)
	if m.unsorted && len(m.list) > 2*m.sortedLen+4096 { // memory grows with the set, not with the report
		m.sortUnique()
	}
}

// sortUnique puts the list in order, each number once.
func (m *marks) sortUnique() {
	if m.unsorted {
		slices.Sort(m.list)
		unique := m.list[:0]
		for _, mark := range m.list { // of one number the hit comes last
			if n := len(unique); n > 0 && unique[n-1]>>1 == mark>>1 {
				unique[n-1] = mark
				continue
			}
			unique = append(unique, mark)
		}
		m.list, m.unsorted = unique, false
	}
	m.sortedLen = len(m.list)
}

func (m *marks) ratio() metric.Ratio {
	m.sortUnique()
	r := metric.Ratio{Total: int64(len(m.list))}
	for _, mark := range m.list {
		r.Covered += int64(mark & 1)
	}
	return r
}

// spans returns the runs of marks that are hit, and of those that are not.
func (m *marks) spans() (hit, missed []metric.Span) {
	m.sortUnique()
	var out [2][]metric.Span
	var count [2]int
	m.forEachRun(func(hit uint64, _ metric.Span) { count[hit]++ })
	for hit, n := range count {
		if n > 0 {
			out[hit] = make([]metric.Span, 0, n)
		}
	}
	m.forEachRun(func(hit uint64, s metric.Span) { out[hit] = append(out[hit], s) })
	return out[1], out[0]
}

// forEachRun calls f with every run of numbers, and 1 where they are hit.
func (m *marks) forEachRun(f func(is uint64, s metric.Span)) {
	for i := 0; i < len(m.list); {
		first, next := m.list[i], i+1
		for next < len(m.list) && m.list[next] == first+uint64(next-i)<<1 {
			next++
		}
		f(first&1, metric.Span{First: int(first >> 1), Last: int(m.list[next-1] >> 1)})
		i = next
	}
}

// addAll adds what is in n, which is in order.
func (m *marks) addAll(n *marks) {
	if len(m.list) == 0 {
		m.list = slices.Grow(m.list, len(n.list))
	}
	for _, mark := range n.list {
		m.add(mark>>1, mark&1 == 1)
	}
}

// lineSet is what is known of the lines of one file. A file that is listed in a
// report again adds to it.
type lineSet struct {
	hit, missed []metric.Span
	pending     marks // of a second time
}

// add takes the lines of one section of a report, which may be used again then.
func (l *lineSet) add(section *marks) {
	if len(section.list) == 0 {
		return
	}
	if len(l.hit)+len(l.missed)+len(l.pending.list) == 0 {
		l.hit, l.missed = section.spans()
		return
	}
	l.pending.addAll(section)
	if len(l.pending.list) > 4*(len(l.hit)+len(l.missed))+256 {
		l.mergePending()
	}
}

// mergePending merges what is pending.
func (l *lineSet) mergePending() {
	if len(l.pending.list) == 0 {
		return
	}
	hit, missed := l.pending.spans()
	l.pending = marks{}
	l.hit = unionSpans(l.hit, hit)
	l.missed = subtractSpans(unionSpans(l.missed, missed), l.hit)
}

func (l *lineSet) ratio() metric.Ratio {
	covered := countLines(l.hit)
	return metric.Ratio{Covered: covered, Total: covered + countLines(l.missed)}
}

func countLines(spans []metric.Span) int64 {
	var n int64
	for _, s := range spans {
		n += int64(s.Last - s.First + 1)
	}
	return n
}

// unionSpans returns the lines that are in a or in b, both in order.
func unionSpans(a, b []metric.Span) []metric.Span {
	spans := append(append(make([]metric.Span, 0, len(a)+len(b)), a...), b...)
	slices.SortFunc(spans, func(x, y metric.Span) int { return cmp.Compare(x.First, y.First) })
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

// subtractSpans returns the lines of a that are not in b, both in order.
func subtractSpans(a, b []metric.Span) []metric.Span {
	var out []metric.Span
	for _, s := range a {
		for len(b) > 0 && b[0].Last < s.First {
			b = b[1:]
		}
		for _, cut := range b {
			if cut.First > s.Last {
				break
			}
			if cut.First > s.First {
				out = append(out, metric.Span{First: s.First, Last: cut.First - 1})
			}
			s.First = cut.Last + 1
		}
		if s.First <= s.Last {
			out = append(out, s)
		}
	}
	return out
}

// condition is how many of the branches of one line were taken.
type condition struct{ line, covered, total uint32 }

// conditions are the branches of a file by line. A line that is named again has
// the greatest of both numbers.
type conditions struct {
	list      []condition
	unsorted  bool
	sortedLen int
}

func (c *conditions) add(line, covered, total uint32) {
	count := len(c.list)
	if count > 0 && c.list[count-1].line == line {
		c.list[count-1].merge(condition{line, covered, total})
		return
	}
	c.unsorted = c.unsorted || count > 0 && c.list[count-1].line > line
	c.list = append(c.list, condition{line, covered, total})
	if c.unsorted && len(c.list) > 2*c.sortedLen+1024 {
		c.sortUnique()
	}
}

func (c *condition) merge(d condition) {
	c.total = max(c.total, d.total)
	c.covered = min(max(c.covered, d.covered), c.total)
}

func (c *conditions) sortUnique() {
	if c.unsorted {
		slices.SortFunc(c.list, func(a, b condition) int { return cmp.Compare(a.line, b.line) })
		unique := c.list[:0]
		for _, d := range c.list {
			if n := len(unique); n > 0 && unique[n-1].line == d.line {
				unique[n-1].merge(d)
				continue
			}
			unique = append(unique, d)
		}
		c.list, c.unsorted = unique, false
	}
	c.sortedLen = len(c.list)
}

func (c *conditions) ratio() metric.Ratio {
	c.sortUnique()
	var r metric.Ratio
	for _, d := range c.list {
		r.Covered += int64(min(d.covered, d.total))
		r.Total += int64(d.total)
	}
	return r
}
