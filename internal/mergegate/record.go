package mergegate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/projectfile"
	"supervise/metric"
)

// Record is what was measured of a commit, as it is stored for the gates to come.
type Record struct {
	Version    int         `json:"version"`
	Commit     string      `json:"commit,omitempty"` // "" for an uncommitted tree
	MeasuredAt time.Time   `json:"measured_at"`
	Supervise  string      `json:"supervise_version"`
	Set        metric.Set  `json:"measurements"`
	Flaky      []metric.ID `json:"flaky,omitempty"` // had two outcomes on the tree
}

// recordVersion is that of the form of a record.
const recordVersion = 2

const (
	refs     = "refs/supervise/metrics/"
	fileName = "metrics.json"
	treeName = "tree" // the files of the commit, so that they come with the record
)

// RecordRef is the ref of the record of a commit. Each commit has its own, so that no two
// writers meet. It is a commit without parents, whose tree has metrics.json and,
// as the folder "tree", the files of the commit that was measured.
func RecordRef(commit string) string { return refs + commit }

// nearest returns the record of the commit, or of the nearest ancestor along the
// first parents that has one, nil for none. The remote is searched as well.
func (r repo) nearest(ctx context.Context, commit string) (rec *Record, at string, distance int, err error) {
	const far = 200
	list := r.ancestors(ctx, commit, far)
	known, err := r.known(ctx)
	if err != nil {
		return nil, "", 0, err
	}
	if !known[commit] && r.remote != "" {
		maps.Copy(known, r.offered(ctx))
	}
	for i, id := range list {
		if !known[id] {
			continue
		}
		rec, err := r.load(ctx, id)
		if err != nil {
			return nil, "", 0, err
		}
		if rec != nil {
			return rec, id, i, nil
		}
	}
	return nil, "", 0, nil
}

// known lists the commits whose records are here.
func (r repo) known(ctx context.Context) (map[string]bool, error) {
	out, err := r.git(ctx, nil, "for-each-ref", "--format=%(refname)", refs)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	known := map[string]bool{}
	for _, ref := range strings.Fields(out) {
		known[strings.TrimPrefix(ref, refs)] = true
	}
	return known, nil
}

// offered lists the commits whose records the remote has; none when it cannot be
// asked.
func (r repo) offered(ctx context.Context) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	out, err := r.git(ctx, nil, "ls-remote", "--quiet", "--refs", "--", r.remote, refs+"*")
	if err != nil {
		return nil
	}
	known := map[string]bool{}
	for line := range strings.Lines(out) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			known[strings.TrimPrefix(ref, refs)] = true
		}
	}
	return known
}

// load reads the record of a commit, which is fetched when it is not here; nil when
// it cannot be had.
func (r repo) load(ctx context.Context, commit string) (*Record, error) {
	ref := RecordRef(commit)
	if _, err := r.tree(ctx, ref); err != nil {
		if err := r.fetch(ctx, "--depth=1", "+"+ref+":"+ref); err != nil {
			return nil, nil //nolint:nilnil,nilerr // there is none, as documented
		}
	}
	text, err := r.git(ctx, nil, "cat-file", "blob", ref+":"+fileName)
	if err != nil {
		return nil, fmt.Errorf("%w: the record of %s is damaged: %w; delete %s", ErrBase, short(commit), err, ref)
	}
	rec, err := parse([]byte(text), ref)
	if err != nil {
		return nil, err
	}
	if rec.Commit != commit {
		return nil, fmt.Errorf("%w: %s has the record of another commit, %s: delete the ref", ErrBase, ref, short(rec.Commit))
	}
	return &rec, nil
}

// ReadRecord reads the record in a file.
func ReadRecord(path string) (Record, error) {
	text, err := projectfile.ReadNamed(path, projectfile.Git)
	if err != nil {
		return Record{}, fmt.Errorf("%w: read the record: %w", ErrBase, err)
	}
	return parse(text, path)
}

func parse(text []byte, from string) (rec Record, err error) {
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, fmt.Errorf("%w: %s is no record of supervise baseline: %w", ErrBase, from, err)
	}
	switch {
	case rec.Version == 0 || rec.Set.Tests == nil:
		return rec, fmt.Errorf("%w: %s is not a record of supervise baseline, or has no tests", ErrBase, from)
	case rec.Version != recordVersion:
		return rec, fmt.Errorf("%w: %s was written by another version of supervise (%s): record it again with supervise baseline", ErrBase, from, rec.Supervise)
	}
	return rec, nil
}

// Save writes the record into a file.
func (rec Record) Save(path string) error {
	b, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return ledger.WriteFile(path, append(b, '\n'))
}

// Store stores the record under the ref of its commit in the repository of dir, and
// at the remote when that is not "".
func (rec Record) Store(ctx context.Context, dir, remote string) error {
	r := repo{dir: dir, remote: remote}
	b, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("store the record: %w", err)
	}
	steps := []struct {
		in   []byte
		args []string
	}{{b, []string{"hash-object", "-w", "--stdin"}}, {nil, []string{"rev-parse", "--verify", rec.Commit + "^{tree}"}}}
	var ids []any
	for _, s := range steps {
		id, err := r.git(ctx, s.in, s.args...)
		if err != nil {
			return fmt.Errorf("store the record: %w", err)
		}
		ids = append(ids, strings.TrimSpace(id))
	}
	tree, err := r.git(ctx, fmt.Appendf(nil, "100644 blob %s\t"+fileName+"\n040000 tree %s\t"+treeName+"\n", ids...), "mktree")
	if err != nil {
		return fmt.Errorf("store the record: %w", err)
	}
	// A commit of fixed author and date: the same record gives the same object.
	date := strconv.FormatInt(rec.MeasuredAt.Unix(), 10) + " +0000"
	text := fmt.Sprintf("tree %s\nauthor supervise <supervise@localhost> %s\ncommitter supervise <supervise@localhost> %s\n\nwhat supervise measured of %s\n", strings.TrimSpace(tree), date, date, rec.Commit)
	commit, err := r.git(ctx, []byte(text), "hash-object", "-t", "commit", "-w", "--stdin")
	if err != nil {
		return fmt.Errorf("store the record: %w", err)
	}
	if _, err := r.git(ctx, nil, "update-ref", RecordRef(rec.Commit), strings.TrimSpace(commit)); err != nil {
		return fmt.Errorf("store the record: %w", err)
	}
	if remote == "" {
		return nil
	}
	if _, err := r.git(ctx, nil, "push", "--quiet", "--no-verify", "--", remote, "+"+RecordRef(rec.Commit)+":"+RecordRef(rec.Commit)); err != nil {
		return fmt.Errorf("push the record: %w", err)
	}
	return nil
}

// Prune deletes records, here and at the remote when that is not "": all but those of
// the latest keep commits along the first parents of the given revisions. It returns
// the commits whose records went.
func Prune(ctx context.Context, dir, remote string, keep int, revs []string) ([]string, error) {
	r := repo{dir: dir, remote: remote}
	known, err := r.known(ctx)
	if err != nil {
		return nil, err
	}
	if remote != "" {
		maps.Copy(known, r.offered(ctx))
	}
	for _, rev := range revs {
		id := r.id(ctx, rev)
		if id == "" {
			return nil, fmt.Errorf("%w: git knows no %s here", ErrBase, rev)
		}
		for _, id := range r.ancestors(ctx, id, keep) {
			delete(known, id)
		}
	}
	gone := slices.Sorted(maps.Keys(known))
	return gone, errors.Join(r.drop(ctx, gone), r.dropRemote(ctx, gone))
}

func (r repo) drop(ctx context.Context, commits []string) error {
	var in strings.Builder
	for _, id := range commits {
		fmt.Fprintf(&in, "delete %s\n", RecordRef(id))
	}
	if _, err := r.git(ctx, []byte(in.String()), "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("delete records: %w", err)
	}
	return nil
}

func (r repo) dropRemote(ctx context.Context, commits []string) error {
	if r.remote == "" || len(commits) == 0 {
		return nil
	}
	args := []string{"push", "--quiet", "--no-verify", "--", r.remote}
	for _, id := range commits {
		args = append(args, ":"+RecordRef(id))
	}
	if _, err := r.git(ctx, nil, args...); err != nil {
		return fmt.Errorf("delete records at %s: %w", r.remote, err)
	}
	return nil
}
