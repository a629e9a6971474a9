package evidence

import "supervise/metric"

// LineCounter counts the lines that a unified diff adds and deletes, while the diff is
// written to it.
type LineCounter struct {
	added, deleted int
	start          [4]byte // of the current line
	startLength    int     // how many bytes of start are set
}

// Write counts the lines of p. It never fails.
func (d *LineCounter) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n':
			d.count()
			d.startLength = 0
		case d.startLength < len(d.start):
			d.start[d.startLength] = b
			d.startLength++
		}
	}
	return len(p), nil
}

// count counts the line that just ended. The headers of files, "+++ " and "--- ", do not count.
func (d *LineCounter) count() {
	switch start := string(d.start[:d.startLength]); {
	case start == "+++ ", start == "--- ":
	case d.startLength > 0 && start[0] == '+':
		d.added++
	case d.startLength > 0 && start[0] == '-':
		d.deleted++
	}
}

// AddTo returns the set with the counts, if it has a section about code.
func (d *LineCounter) AddTo(set metric.Set) metric.Set {
	if set.Code == nil {
		return set
	}
	code := *set.Code
	code.Added, code.Deleted = new(d.added), new(d.deleted)
	set.Code = &code
	return set
}
