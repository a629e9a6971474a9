package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"supervise/fleet/bucket"
)

// refPrefix is where the refs of fleets are.
const refPrefix = "refs/supervise/fleet/"

// errMoved is why a ref could not be written: another worker has written it.
var errMoved = bucket.ErrMoved

// gitRefs are refs in the task's repository.
type gitRefs struct {
	objects
	url string
}

func (r gitRefs) read(ctx context.Context, ref string) (string, error) {
	out, err := r.git(ctx, "ls-remote", r.url, refPrefix+ref)
	id, _, _ := strings.Cut(out, "\t")
	return id, err
}

func (r gitRefs) fetch(ctx context.Context, ref, id string) error {
	if r.has(ctx, id) {
		return nil
	}
	_, err := r.git(ctx, "fetch", "-q", "--no-tags", r.url, refPrefix+ref)
	return err
}

func (r gitRefs) write(ctx context.Context, ref, id, was, _ string) error {
	_, err := r.git(ctx, "push", "-q", "--no-verify", "--force-with-lease="+refPrefix+ref+":"+was, r.url, id+":"+refPrefix+ref)
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

func (r gitRefs) remove(ctx context.Context, refs ...string) error {
	var errs []error
	for _, ref := range refs {
		id, err := r.read(ctx, ref)
		if err == nil && id != "" {
			_, err = r.git(ctx, "push", "-q", "--no-verify", r.url, ":"+refPrefix+ref)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
