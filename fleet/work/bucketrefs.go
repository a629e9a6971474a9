package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"supervise/fleet/bucket"
)

// bucketRefs are refs in a bucket. Each write of one is a new file, a git bundle with what the
// readers of the last one do not have.
type bucketRefs struct {
	objects
	*bucket.Bucket
}

// headSize is how much of a bundle is read for its first lines.
const headSize = 16 << 10

// header is what a bundle begins with.
type header struct {
	id    string
	needs []string // commits
}

func (r bucketRefs) read(ctx context.Context, ref string) (string, error) {
	_, id, err := r.last(ctx, ref)
	return id, err
}

// last is the last file of a ref, with its commit; 0 where there is none.
func (r bucketRefs) last(ctx context.Context, ref string) (number int, id string, err error) {
	if number, err = r.Last(ctx, ref); err != nil || number == 0 {
		return 0, "", err
	}
	h, err := r.header(ctx, ref, number)
	return number, h.id, err
}

func (r bucketRefs) header(ctx context.Context, ref string, number int) (h header, err error) {
	text, err := r.Head(ctx, ref, number, headSize)
	if err != nil {
		return h, err
	}
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" && h.id != "":
			return h, nil
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "@"):
		case strings.HasPrefix(line, "-"):
			id, _, _ := strings.Cut(line[1:], " ")
			h.needs = append(h.needs, id)
		default:
			h.id, _, _ = strings.Cut(line, " ")
		}
	}
	return h, fmt.Errorf("number %d of %s in the bucket is no git bundle", number, ref)
}

func (r bucketRefs) fetch(ctx context.Context, ref, id string) error {
	if r.has(ctx, id) {
		return nil
	}
	last, err := r.Last(ctx, ref)
	if err != nil {
		return err
	}
	first := last
	for ; first > 0; first-- { // the last one whose needs are here, and those after it
		h, err := r.header(ctx, ref, first)
		if err != nil {
			return err
		}
		if r.has(ctx, h.needs...) {
			break
		}
		if base := path.Join(path.Dir(ref), baseName); first == 1 && ref != base {
			for _, need := range h.needs {
				if err := r.fetch(ctx, base, need); err != nil {
					return err
				}
			}
			break
		}
	}
	for n := max(first, 1); n <= last; n++ {
		if err := r.unbundle(ctx, ref, n); err != nil {
			return fmt.Errorf("fetch %s: %w", ref, err)
		}
	}
	if !r.has(ctx, id) {
		return fmt.Errorf("fetch %s: the bucket does not have %s", ref, id)
	}
	return nil
}

func (r bucketRefs) unbundle(ctx context.Context, ref string, number int) error {
	file, done, err := r.temporary()
	if err != nil {
		return err
	}
	defer done()
	if err := r.Get(ctx, ref, number, file); err != nil {
		return err
	}
	_, err = r.git(ctx, "bundle", "unbundle", file)
	return err
}

func (r bucketRefs) write(ctx context.Context, ref, id, was, base string) error {
	last, now, err := r.last(ctx, ref)
	if err != nil {
		return err
	}
	switch now {
	case id:
		return nil
	case was:
	default:
		return fmt.Errorf("write %s: %w", ref, errMoved)
	}
	file, done, err := r.temporary()
	if err != nil {
		return err
	}
	defer done()
	name := refPrefix + ref
	if _, err := r.git(ctx, "update-ref", name, id); err != nil {
		return err
	}
	args := []string{"bundle", "create", "-q", file, name}
	for _, has := range []string{was, base} {
		if has != "" {
			args = append(args, "^"+has)
		}
	}
	_, err = r.git(ctx, args...)
	_, removed := r.git(ctx, "update-ref", "-d", name)
	if err := errors.Join(err, removed); err != nil {
		return err
	}
	return r.Put(ctx, ref, last+1, file)
}

func (r bucketRefs) remove(ctx context.Context, refs ...string) error {
	var errs []error
	for _, ref := range refs {
		errs = append(errs, r.Remove(ctx, ref))
	}
	return errors.Join(errs...)
}

// temporary is the name of a file for a bundle.
func (r bucketRefs) temporary() (name string, done func(), err error) {
	f, err := os.CreateTemp(r.dir, "bundle-")
	if err != nil {
		return "", nil, err
	}
	return f.Name(), func() { _ = os.Remove(f.Name()) }, f.Close()
}
