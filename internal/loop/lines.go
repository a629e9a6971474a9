package loop

import "supervise/metric"

// diffLines counts the lines that a unified diff adds and deletes, as it is
// written.
type diffLines struct {
	added, deleted int
	start          [4]byte // of the line that is being written
	n              int     // how much of start is known
}

// Write counts the lines of p. It never fails.
func (d *diffLines) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n':
			d.count()
			d.n = 0
		case d.n < len(d.start):
			d.start[d.n] = b
			d.n++
		}
	}
	return len(p), nil
}

func (d *diffLines) count() {
	switch start := string(d.start[:d.n]); {
	case start == "+++ ", start == "--- ":
	case d.n > 0 && start[0] == '+':
		d.added++
	case d.n > 0 && start[0] == '-':
		d.deleted++
	}
}

// into adds the counts to a set.
func (d *diffLines) into(set metric.Set) metric.Set {
	if set.Code == nil {
		return set
	}
	code, added, deleted := *set.Code, d.added, d.deleted
	code.Added, code.Deleted = &added, &deleted
	set.Code = &code
	return set
}
