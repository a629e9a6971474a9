package restore

import (
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"supervise/snapshot/internal/manifest"
)

// Verify compares the tree as it is now with the target, and completes the result.
func (x *Restorer) Verify(now, target *manifest.Manifest) {
	leave := target.Unknown()
	for _, part := range []struct{ now, want []manifest.Entry }{
		{x.Tree.Excludes.Without(now.Work), x.Tree.Excludes.Without(target.Work)}, {now.Git, target.Git}, {now.Ext, target.Ext},
	} {
		p := diff(part.now, part.want, leave)
		for _, list := range [][]manifest.Entry{p.open, p.mkdir, p.write, p.chmod} {
			for _, e := range list {
				x.Result.mismatch(e.Path, "differs from the snapshot")
			}
		}
		for _, e := range p.remove {
			x.Result.mismatch(e.Path, "did not exist in the snapshot")
		}
	}
	x.Result.Gone, x.Result.Left = x.gone(target), left(now, target)
	sort.Strings(x.Result.Written)
	sort.Strings(x.Result.Deleted)
	sort.Strings(x.Result.Displaced)
	if len(x.Result.Displaced) > 0 {
		x.Result.DisplacedTo = x.DisplacedTo()
	}
	sort.SliceStable(x.Result.Mismatches, func(i, k int) bool { return x.Result.Mismatches[i].Path < x.Result.Mismatches[k].Path })
}

// gone lists what the target saw, did not capture, and is not there any more.
func (x *Restorer) gone(target *manifest.Manifest) []string {
	var out []string
	note := func(p string) {
		p = strings.TrimSuffix(p, "/")
		if _, err := x.Tree.Root.Lstat(p); errors.Is(err, fs.ErrNotExist) && !x.Tree.Excludes.Has(p) {
			out = append(out, p)
		}
	}
	for _, p := range target.Ignored {
		note(p)
	}
	for _, skip := range target.Skipped {
		note(skip.Path)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// left lists what is there, was not captured, and that the target had not seen.
func left(now, target *manifest.Manifest) []string {
	var out []string
	unknown := target.Unknown()
	for _, skip := range now.Skipped {
		p := strings.TrimSuffix(skip.Path, "/")
		if !unknown(p) && manifest.Lookup(target.Work, p) < 0 && manifest.Lookup(target.Git, p) < 0 {
			out = append(out, p)
		}
	}
	return out
}
