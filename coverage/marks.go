package coverage

import (
	"slices"

	"supervise/metric"
)

// marks is a set of numbers, each of which is hit or missed. Numbers may be added in any order
// and repeatedly: one hit is enough. Each number takes eight bytes.
type marks struct {
	list      []uint64 // number<<1 | hit
	unsorted  bool     // the list is unsorted or contains duplicates
	sortedLen int      // length after the last sort
}

// add adds a number, which must be below 1<<63.
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
	if m.unsorted && len(m.list) > 2*m.sortedLen+4096 { // limits memory to the size of the set, not of the report
		m.sortUnique()
	}
}

// sortUnique sorts the list and removes duplicates.
func (m *marks) sortUnique() {
	if m.unsorted {
		slices.Sort(m.list)
		unique := m.list[:0]
		for _, mark := range m.list { // a hit comes after a miss of the same number
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

// ratio returns how many of the numbers are hit.
func (m *marks) ratio() metric.Ratio {
	m.sortUnique()
	r := metric.Ratio{Total: int64(len(m.list))}
	for _, mark := range m.list {
		r.Covered += int64(mark & 1)
	}
	return r
}

// spans returns the runs of consecutive numbers that are hit, and of those that are missed.
// Either is nil if it is empty.
func (m *marks) spans() (hit, missed []metric.Span) {
	m.sortUnique()
	for i := 0; i < len(m.list); {
		first, next := m.list[i], i+1
		for next < len(m.list) && m.list[next] == first+uint64(next-i)<<1 {
			next++
		}
		run := metric.Span{First: int(first >> 1), Last: int(m.list[next-1] >> 1)}
		if first&1 == 1 {
			hit = append(hit, run)
		} else {
			missed = append(missed, run)
		}
		i = next
	}
	return slices.Clone(hit), slices.Clone(missed) // without unused capacity
}

// addAll adds all marks of n, which must be sorted.
func (m *marks) addAll(n *marks) {
	if len(m.list) == 0 {
		m.list = slices.Grow(m.list, len(n.list))
	}
	for _, mark := range n.list {
		m.add(mark>>1, mark&1 == 1)
	}
}

// lineSet is the set of lines of a file. It merges repeated entries of the file.
type lineSet struct {
	hit, missed []metric.Span
	pending     marks // lines of repeated entries
}

// add adds the lines of one entry of the file. The caller may reuse section afterwards.
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

// mergePending merges the pending lines.
func (l *lineSet) mergePending() {
	if len(l.pending.list) == 0 {
		return
	}
	hit, missed := l.pending.spans()
	l.pending = marks{}
	l.hit = metric.UnionSpans(l.hit, hit)
	l.missed = metric.SubtractSpans(metric.UnionSpans(l.missed, missed), l.hit)
}

// ratio returns how many of the lines are hit.
func (l *lineSet) ratio() metric.Ratio {
	covered := metric.CountLines(l.hit)
	return metric.Ratio{Covered: covered, Total: covered + metric.CountLines(l.missed)}
}

// condition is the number of branches of a line, and how many of them were taken.
type condition struct{ covered, total uint32 }

// conditions are the numbers of branches of a file, by line. Repeated entries of a line are
// merged by their maximum.
type conditions map[uint32]condition

// add adds an entry of a line, of which no more branches are covered than there are.
func (c conditions) add(line, covered, total uint32) {
	known := c[line]
	c[line] = condition{max(known.covered, covered), max(known.total, total)}
}

// ratio returns how many of the branches were taken.
func (c conditions) ratio() metric.Ratio {
	var r metric.Ratio
	for _, d := range c {
		r.Covered += int64(d.covered)
		r.Total += int64(d.total)
	}
	return r
}
