package snapshot

import (
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strings"
)

// verify compares the tree as it is now with the target, and completes the result.
func (x *restorer) verify(now, target *manifest) {
	leave := target.unknown()
	for _, part := range []struct{ now, want []entry }{
		{x.tree.excludes.without(now.work), x.tree.excludes.without(target.work)}, {now.git, target.git}, {now.ext, target.ext},
	} {
		p := diff(part.now, part.want, leave)
		for _, list := range [][]entry{p.open, p.mkdir, p.write, p.chmod} {
			for _, e := range list {
				x.r.mismatch(e.path, "differs from the snapshot")
			}
		}
		for _, e := range p.remove {
			x.r.mismatch(e.path, "did not exist in the snapshot")
		}
	}
	x.r.Gone, x.r.Left = x.gone(target), left(now, target)
	sort.Strings(x.r.Written)
	sort.Strings(x.r.Deleted)
	sort.Strings(x.r.Displaced)
	if len(x.r.Displaced) > 0 {
		x.r.DisplacedTo = x.displacedTo()
	}
	sort.SliceStable(x.r.Mismatches, func(i, k int) bool { return x.r.Mismatches[i].Path < x.r.Mismatches[k].Path })
}

// gone lists what the target saw, did not capture, and is not there any more.
func (x *restorer) gone(target *manifest) []string {
	var out []string
	note := func(p string) {
		p = strings.TrimSuffix(p, "/")
		if _, err := x.tree.root.Lstat(p); errors.Is(err, fs.ErrNotExist) && !x.tree.excludes.has(p) {
			out = append(out, p)
		}
	}
	for _, p := range target.ignored {
		note(p)
	}
	for _, skip := range target.Skipped {
		note(skip.Path)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// left lists what is there, was not captured, and that the target had not seen.
func left(now, target *manifest) []string {
	var out []string
	unknown := target.unknown()
	for _, skip := range now.Skipped {
		p := strings.TrimSuffix(skip.Path, "/")
		if !unknown(p) && lookup(target.work, p) < 0 && lookup(target.git, p) < 0 {
			out = append(out, p)
		}
	}
	return out
}
