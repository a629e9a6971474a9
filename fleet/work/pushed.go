package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"supervise/fleet/bucket"
)

// prefix is where the refs of fleets are.
const prefix = "refs/supervise/fleet/"

// errMoved is the reason for which a ref could not be written: somebody else has.
var errMoved = bucket.ErrMoved

// pushed are refs in the repository of the task itself.
type pushed struct {
	objects
	url string
}

func (r pushed) read(ctx context.Context, ref string) (string, error) {
	out, err := r.git(ctx, "ls-remote", r.url, prefix+ref)
	id, _, _ := strings.Cut(out, "\t")
	return id, err
}

func (r pushed) fetch(ctx context.Context, ref, id string) error {
	if r.has(ctx, id) {
		return nil
	}
	_, err := r.git(ctx, "fetch", "-q", "--no-tags", r.url, prefix+ref)
	return err
}

func (r pushed) write(ctx context.Context, ref, id, was, _ string) error {
	_, err := r.git(ctx, "push", "-q", "--no-verify", "--force-with-lease="+prefix+ref+":"+was, r.url, id+":"+prefix+ref)
	if err == nil {
		return nil
	}
	if now, readErr := r.read(ctx, ref); readErr == nil && now != was {
		if now == id {
			return nil
		}
		return fmt.Errorf("write %s: %w", ref, errMoved)
	}
	return err
}

func (r pushed) remove(ctx context.Context, refs ...string) error {
	var errs []error
	for _, ref := range refs {
		id, err := r.read(ctx, ref)
		if err == nil && id != "" {
			_, err = r.git(ctx, "push", "-q", "--no-verify", r.url, ":"+prefix+ref)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
