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

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/projectfile"
	"supervise/metric"
)

// Record has the measurements of a commit, as they are stored for later gates.
type Record struct {
	Version    int         `json:"version"`
	Commit     string      `json:"commit,omitempty"` // "" for an uncommitted tree
	MeasuredAt time.Time   `json:"measured_at"`
	Supervise  string      `json:"supervise_version"`
	Set        metric.Set  `json:"measurements"`
	Flaky      []metric.ID `json:"flaky,omitempty"` // tests with two outcomes on the tree
	// CheckChanges are the files that the checks changed in the tree.
	CheckChanges []detector.CheckChange `json:"check_changes,omitempty"`
}

// recordVersion is the version of the format of a record.
const recordVersion = 2

// The parts of a stored record; see [RecordRef].
const (
	refPrefix = "refs/supervise/metrics/"
	fileName  = "metrics.json"
	treeName  = "tree" // the files of the commit, so that they are fetched with the record
)

// RecordRef returns the ref of the record of a commit. Every commit has a separate ref, so
// that writers do not conflict. The ref points to a commit without parents, whose tree has
// the file metrics.json and the files of the measured commit in the folder "tree".
func RecordRef(commit string) string { return refPrefix + commit }

// nearestRecord returns the record of the commit, or of the nearest ancestor along the first
// parents that has one. It also returns the commit of the record, and how many commits that is
// before the given one. The record is nil if there is none. Records of the remote are found too.
func (r repo) nearestRecord(ctx context.Context, commit string) (rec *Record, recorded string, distance int, err error) {
	const maxDistance = 200
	list := r.ancestors(ctx, commit, maxDistance)
	known, err := r.localRecords(ctx)
	if err != nil {
		return nil, "", 0, err
	}
	if !known[commit] && r.remote != "" {
		maps.Copy(known, r.remoteRecords(ctx))
	}

	for i, id := range list {
		if !known[id] {
			continue
		}
		rec, err := r.loadRecord(ctx, id)
		if err != nil {
			return nil, "", 0, err
		}
		if rec != nil {
			return rec, id, i, nil
		}
	}
	return nil, "", 0, nil
}

// localRecords returns the set of commits with a record in the local repository.
func (r repo) localRecords(ctx context.Context) (map[string]bool, error) {
	out, err := r.git(ctx, nil, "for-each-ref", "--format=%(refname)", refPrefix)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	known := map[string]bool{}
	for _, ref := range strings.Fields(out) {
		known[strings.TrimPrefix(ref, refPrefix)] = true
	}
	return known, nil
}

// remoteRecords returns the set of commits with a record in the remote. It is empty if the
// remote cannot be reached.
func (r repo) remoteRecords(ctx context.Context) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	out, err := r.git(ctx, nil, "ls-remote", "--quiet", "--refs", "--", r.remote, refPrefix+"*")
	if err != nil {
		return nil
	}
	known := map[string]bool{}
	for line := range strings.Lines(out) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			known[strings.TrimPrefix(ref, refPrefix)] = true
		}
	}
	return known
}

// loadRecord reads the record of a commit, and fetches it if necessary. It returns nil if
// that is not possible.
func (r repo) loadRecord(ctx context.Context, commit string) (*Record, error) {
	ref := RecordRef(commit)
	if _, err := r.treeID(ctx, ref); err != nil {
		if err := r.fetch(ctx, "--depth=1", "+"+ref+":"+ref); err != nil {
			return nil, nil //nolint:nilnil,nilerr // no record, as documented
		}
	}
	text, err := r.git(ctx, nil, "cat-file", "blob", ref+":"+fileName)
	if err != nil {
		return nil, fmt.Errorf("%w: the record of %s is damaged: %w; delete %s", ErrBase, shortID(commit), err, ref)
	}
	rec, err := parseRecord([]byte(text), ref)
	if err != nil {
		return nil, err
	}
	if rec.Commit != commit {
		return nil, fmt.Errorf("%w: %s has the record of another commit, %s: delete the ref", ErrBase, ref, shortID(rec.Commit))
	}
	return &rec, nil
}

// ReadRecord reads the record in a file.
func ReadRecord(path string) (Record, error) {
	text, err := projectfile.ReadNamed(path, projectfile.Git)
	if err != nil {
		return Record{}, fmt.Errorf("%w: read the record: %w", ErrBase, err)
	}
	return parseRecord(text, path)
}

// parseRecord parses a record. from names its file or ref in errors.
func parseRecord(text []byte, from string) (rec Record, err error) {
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

// Save writes the record to a file.
func (rec Record) Save(path string) error {
	b, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return ledger.WriteFile(path, append(b, '\n'))
}

// Store stores the record under the ref of its commit in the repository of dir. Unless remote is
// "", it also pushes the ref.
func (rec Record) Store(ctx context.Context, dir, remote string) error {
	r := repo{dir: dir, remote: remote}
	if err := r.writeRecord(ctx, rec); err != nil {
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

// writeRecord writes the commit of a record, and the ref that points to it.
func (r repo) writeRecord(ctx context.Context, rec Record) error {
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	blob, err := r.git(ctx, text, "hash-object", "-w", "--stdin")
	if err != nil {
		return err
	}
	files, err := r.git(ctx, nil, "rev-parse", "--verify", rec.Commit+"^{tree}")
	if err != nil {
		return err
	}
	tree, err := r.git(ctx, fmt.Appendf(nil, "100644 blob %s\t"+fileName+"\n040000 tree %s\t"+treeName+"\n", strings.TrimSpace(blob), strings.TrimSpace(files)), "mktree")
	if err != nil {
		return err
	}

	// With a fixed author and date, the same record gives the same object.
	date := strconv.FormatInt(rec.MeasuredAt.Unix(), 10) + " +0000"
	commitText := fmt.Sprintf("tree %s\nauthor supervise <supervise@localhost> %s\ncommitter supervise <supervise@localhost> %s\n\nwhat supervise measured of %s\n", strings.TrimSpace(tree), date, date, rec.Commit)
	commit, err := r.git(ctx, []byte(commitText), "hash-object", "-t", "commit", "-w", "--stdin")
	if err == nil {
		_, err = r.git(ctx, nil, "update-ref", RecordRef(rec.Commit), strings.TrimSpace(commit))
	}
	return err
}

// Prune deletes records in the repository of dir and, unless remote is "", in the remote. It keeps
// the records of the latest commits along the first parents of each revision in revs, keep commits
// each. It returns the commits whose records it deleted.
func Prune(ctx context.Context, dir, remote string, keep int, revs []string) ([]string, error) {
	r := repo{dir: dir, remote: remote}
	known, err := r.localRecords(ctx)
	if err != nil {
		return nil, err
	}
	if remote != "" {
		maps.Copy(known, r.remoteRecords(ctx))
	}
	for _, rev := range revs {
		id := r.commitID(ctx, rev)
		if id == "" {
			return nil, fmt.Errorf("%w: git knows no %s here", ErrBase, rev)
		}
		for _, id := range r.ancestors(ctx, id, keep) {
			delete(known, id)
		}
	}
	gone := slices.Sorted(maps.Keys(known))
	return gone, errors.Join(r.deleteLocal(ctx, gone), r.deleteRemote(ctx, gone))
}

// deleteLocal deletes the refs of records in the local repository.
func (r repo) deleteLocal(ctx context.Context, commits []string) error {
	var in strings.Builder
	for _, id := range commits {
		fmt.Fprintf(&in, "delete %s\n", RecordRef(id))
	}
	if _, err := r.git(ctx, []byte(in.String()), "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("delete records: %w", err)
	}
	return nil
}

// deleteRemote deletes the refs of records in the remote, if there is one.
func (r repo) deleteRemote(ctx context.Context, commits []string) error {
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
