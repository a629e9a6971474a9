package coverage

import (
	"fmt"

	"supervise/internal/jsonstream"
)

// coverletMethod is a method. It is the value in objects that are nested by module, file, class
// and method. Lines has the count of each line.
type coverletMethod struct {
	Lines    map[string]jsonstream.Raw
	Branches []struct {
		Line, Offset, Path int
		Hits               jsonstream.Raw
	}
}

// readCoverlet reads the default JSON format of coverlet.
func (c *collector) readCoverlet(r *jsonstream.Reader) error {
	return r.Object(func(string) error {
		return r.Object(func(file string) error {
			c.openFile(file)
			return r.Object(func(string) error {
				return r.Object(func(method string) error { return c.readCoverletMethod(r, file, method) })
			})
		})
	})
}

// readCoverletMethod reads one method.
func (c *collector) readCoverletMethod(r *jsonstream.Reader, file, method string) error {
	var m coverletMethod
	if err := r.Value(&m); err != nil {
		return err
	}
	if m.Lines == nil {
		return r.Error("%s of %s has no lines", method, file)
	}
	for line, count := range m.Lines {
		n, okLine := parseNatural(line)
		hit, ok := parseHit(count)
		if !ok || !okLine {
			return r.Error("line %s of %s has no count", line, file)
		}
		c.addLine(n, hit)
	}
	for _, b := range m.Branches {
		taken, ok := parseHit(b.Hits)
		if !ok {
			return r.Error("a branch on line %d of %s has no count", b.Line, file)
		}
		c.addBranch(b.Line, []byte(method), fmt.Appendf(nil, "%d:%d", b.Offset, b.Path), taken)
	}
	return nil
}
