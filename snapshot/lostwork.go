package snapshot

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/ignore"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// WorkLoss is a file with work of the user that was in no commit when the store was created and is lost.
type WorkLoss struct {
	Path    string
	Kind    LossKind
	Ignored bool
	Kept    bool // the snapshots contain it
}

// LossKind says how the work in a file was lost.
type LossKind string

// The ways to lose work.
const (
	LostDeleted     LossKind = "deleted"
	LostEmptied     LossKind = "emptied"
	LostReverted    LossKind = "edits undone" // its content is that of a commit
	LostOverwritten LossKind = "overwritten"  // nothing that the user wrote is left
)

// LostWork lists, by path, the user's own work that is in the snapshots base and start and lost in now. Own work is files
// that were untracked, or differed from HEAD, when the store was created, and captured ignored files. A file is lost if its
// content is at no path of now and in no commit, and one of these holds:
//
//   - the file is missing or empty, and less than half of its lines are in files that have changed since base;
//   - its content is that of a commit before base, or what was staged when the store was created;
//   - it is a text, none of the lines that the user added is in any changed file, and all lines that the user removed are
//     back. At least four lines must have been added or removed.
//
// For an ignored file only the first rule applies. Work that the agent continues is not lost, and compiled files that git
// ignores do not count. Without a repository the result is empty, because own work cannot be recognized.
func (s *Store) LostWork(ctx context.Context, base, start, now ID) ([]WorkLoss, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, b, err := s.manifestPair(base, now)
	if err != nil {
		return nil, err
	}
	c, err := s.manifest(start)
	if err != nil {
		return nil, err
	}
	own, err := ignore.ReadUncommitted(s.ownFile())
	if err != nil || own.Tips == nil {
		return nil, err
	}
	l := &losses{s: s, base: a, start: c, now: b, own: own}
	l.findChangedWork()
	l.findIgnored()
	l.removeSurviving(ctx)
	out := append(l.toWork(), l.findSkipped()...)
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// losses searches for lost work.
type losses struct {
	s                *Store
	base, start, now *manifest.Manifest
	own              ignore.Uncommitted
	candidates       []*lossCandidate
	contents         map[pack.OID]bool // ids of all contents in now
	changed          lines             // lines of all files that have changed since base
}

// lossCandidate is a file whose work may be lost.
type lossCandidate struct {
	WorkLoss
	before, after *manifest.Entry // after is nil if the file is missing
	committed     string          // id of the content in HEAD, or of the staged content if that is the current content
}

// entryOf returns the entry of a file or link, nil if there is none.
func entryOf(list []manifest.Entry, p string) *manifest.Entry {
	if i := manifest.Lookup(list, p); i >= 0 {
		return fileEntry(&list[i])
	}
	return nil
}

// sameContent reports whether two entries have the same kind and content. Two missing entries
// are the same.
func sameContent(a, b *manifest.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.OID == b.OID
}

// findChangedWork adds working files as candidates.
func (l *losses) findChangedWork() {
	for path, committed := range l.own.Files {
		p := string(path)
		before, after := entryOf(l.base.Work, p), entryOf(l.now.Work, p)
		if before == nil || before.Stat.Size == 0 && before.Kind == disk.KindFile || before.OID.String() == committed || l.s.config.Excludes.Has(p) {
			continue
		}
		if sameContent(before, after) || sameContent(after, entryOf(l.start.Work, p)) || after == nil && l.now.HasSkipped(p) || l.hasContent(before.OID) {
			continue
		}
		if staged := l.own.Staged[path]; after != nil && after.OID.String() == staged {
			committed = staged // the staged content remains, and later edits do not
		}
		l.candidates = append(l.candidates, &lossCandidate{WorkLoss{Path: p, Kind: lossKind(after, committed), Kept: true}, before, after, committed})
	}
}

// lossKind returns how a file was lost, by its entry afterwards.
func lossKind(after *manifest.Entry, committed string) LossKind {
	switch {
	case after == nil:
		return LostDeleted
	case after.OID.String() == committed:
		return LostReverted
	case after.Stat.Size == 0:
		return LostEmptied
	}
	return LostOverwritten
}

// findIgnored adds captured ignored files as candidates.
func (l *losses) findIgnored() {
	for i := range l.base.Kept {
		before := fileEntry(&l.base.Kept[i])
		if before == nil || before.Stat.Size == 0 || l.s.config.Excludes.Has(before.Path) {
			continue
		}
		remains := entryOf(l.now.Kept, before.Path) != nil || entryOf(l.now.Work, before.Path) != nil || l.now.HasSkipped(before.Path)
		if remains || entryOf(l.start.Kept, before.Path) == nil || l.hasContent(before.OID) || l.isObjectCode(before) {
			continue
		}
		l.candidates = append(l.candidates, &lossCandidate{WorkLoss: WorkLoss{Path: before.Path, Kind: LostDeleted, Ignored: true, Kept: true}, before: before})
	}
}

// findSkipped lists lost files that were too large to be captured.
func (l *losses) findSkipped() (out []WorkLoss) {
	for _, f := range l.base.Skipped {
		_, own := l.own.Files[manifest.PathText(f.Path)]
		ignored := f.Reason == OverKept
		if f.Mtime == 0 || !own && !ignored || l.s.config.Excludes.Has(f.Path) || l.stillExists(l.now, f) || !l.stillExists(l.start, f) {
			continue
		}
		out = append(out, WorkLoss{Path: f.Path, Kind: LostDeleted, Ignored: ignored})
	}
	return out
}

// stillExists reports whether a skipped file exists, or a skipped file of the same size and time at another path.
func (l *losses) stillExists(m *manifest.Manifest, f Skip) bool {
	return m.HasSkipped(f.Path) || entryOf(m.Work, f.Path) != nil || entryOf(m.Kept, f.Path) != nil ||
		slices.ContainsFunc(m.Skipped, func(o Skip) bool { return o.Size == f.Size && o.Mtime == f.Mtime })
}

// hasContent reports whether the content is at any path of now.
func (l *losses) hasContent(id pack.OID) bool {
	if l.contents == nil {
		l.contents = map[pack.OID]bool{}
		for _, list := range [][]manifest.Entry{l.now.Work, l.now.Kept} {
			for i := range list {
				if list[i].Kind != disk.KindDir {
					l.contents[list[i].OID] = true
				}
			}
		}
	}
	return l.contents[id]
}

// isObjectCode reports whether a file is the output of a compiler or linker, by its first
// bytes.
func (l *losses) isObjectCode(e *manifest.Entry) bool {
	data, err := l.s.objects.Content(e.OID)
	return err == nil && slices.ContainsFunc([]string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ", "!<arch>", "\x00asm"}, func(magic string) bool {
		return bytes.HasPrefix(data, []byte(magic))
	})
}

// removeSurviving removes candidates whose content survives in other files or in a commit.
func (l *losses) removeSurviving(ctx context.Context) {
	if len(l.candidates) == 0 {
		return
	}
	l.changed = l.changedLines()
	repos := map[string]*commits{}
	l.candidates = slices.DeleteFunc(l.candidates, func(f *lossCandidate) bool {
		root := l.repositoryOf(f.Path)
		repo := repos[root]
		if repo == nil {
			repo = &commits{root: filepath.Join(l.s.work, filepath.FromSlash(root)), before: l.own.Tips[manifest.PathText(root)]}
			repos[root] = repo
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(f.Path, root), "/")
		return !l.isLost(ctx, f, repo, rel)
	})
}

// toWork returns the candidates that are left.
func (l *losses) toWork() (out []WorkLoss) {
	for _, f := range l.candidates {
		out = append(out, f.WorkLoss)
	}
	return out
}

// repositoryOf returns the root of the innermost repository that contains a path.
func (l *losses) repositoryOf(p string) string {
	best := ""
	for root := range l.own.Tips {
		if r := string(root); len(r) > len(best) && strings.HasPrefix(p, r+"/") {
			best = r
		}
	}
	return best
}

// isLost reports whether the work of a candidate is lost. rel is the path in the repository.
// It compares lines first, because that needs no git history.
func (l *losses) isLost(ctx context.Context, f *lossCandidate, repo *commits, rel string) bool {
	added, isText := l.lines(f.before)
	var removed lines // lines that the user removed
	if f.committed != "" {
		committed := textLines(repo.readBlob(ctx, f.committed))
		added, removed = added.without(committed), committed.without(added)
	}

	if f.Kind == LostOverwritten && !(isText && l.isReplaced(f, added, removed)) {
		if !repo.hadContent(ctx, rel, f.after.OID.String()) {
			return false
		}
		f.Kind = LostReverted
	}

	if isText && f.Kind != LostOverwritten && l.survives(f, added) {
		return false
	}
	return !repo.holdContent(ctx, rel, f.before.OID.String(), added)
}

// isReplaced reports whether no line that the user added is left in any changed file, and all removed lines are back.
func (l *losses) isReplaced(f *lossCandidate, added, removed lines) bool {
	now, _ := l.lines(f.after)
	return len(added) > 0 && len(added)+len(removed) >= 4 && added.countIn(l.changed) == 0 && removed.countIn(now) == len(removed)
}

// survives reports whether at least half of the lines that the user added are in changed files. If the user had only
// removed lines, a deleted file loses nothing.
func (l *losses) survives(f *lossCandidate, added lines) bool {
	if len(added) == 0 {
		return f.Kind == LostDeleted
	}
	return 2*added.countIn(l.changed) >= len(added)
}

// maxText is the size in bytes up to which files are compared by lines.
const maxText = 1 << 20

// changedLines returns the lines of all files that have changed since base, up to a total size.
func (l *losses) changedLines() lines {
	out := lines{}
	room := int64(32 << 20)
	for _, part := range []manifest.Part{manifest.PartWork, manifest.PartKept} {
		manifest.ForEachPair(*l.base.List(part), *l.now.List(part), func(o, e *manifest.Entry) {
			if e = fileEntry(e); e == nil || sameContent(fileEntry(o), e) || room < e.Stat.Size {
				return
			}
			text, _ := l.lines(e)
			room -= e.Stat.Size
			for line := range text {
				out[line] = true
			}
		})
	}
	return out
}

// lines reads the lines of a file, and reports whether it is a text.
func (l *losses) lines(e *manifest.Entry) (lines, bool) {
	if e == nil || e.Kind != disk.KindFile || e.Stat.Size > maxText {
		return nil, false
	}
	data, err := l.s.objects.Content(e.OID)
	if err != nil || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil, false
	}
	return textLines(data), true
}

// lines is the set of trimmed lines of texts that contain a letter or digit.
type lines map[string]bool

// textLines returns the lines of a text.
func textLines(data []byte) lines {
	out := lines{}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if bytes.ContainsFunc(line, func(r rune) bool {
			return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 0x7f
		}) {
			out[string(line)] = true
		}
	}
	return out
}

// without returns the lines that are not in other.
func (l lines) without(other lines) lines {
	out := lines{}
	for line := range l {
		if !other[line] {
			out[line] = true
		}
	}
	return out
}

// countIn counts the lines that are also in other.
func (l lines) countIn(other lines) (n int) {
	for line := range l {
		if other[line] {
			n++
		}
	}
	return n
}

// commits finds contents in the commits of one repository. The commits since base are listed
// on first use.
type commits struct {
	root        string
	before      []string            // tips when the store was created
	added       map[string]bool     // ids of contents added by commits since base; nil until it is needed
	addedByPath map[string][]string // ids by path
}

// holdContent reports whether a commit contains the content, or a new commit contains at least half of the added lines at
// the path.
func (c *commits) holdContent(ctx context.Context, p, id string, added lines) bool {
	if c.added == nil {
		c.added, c.addedByPath = map[string]bool{}, map[string][]string{}
		now := ignore.FindTips(ctx, c.root)
		for _, b := range gitdir.ListBlobs(ctx, c.root, now, c.before, nil) {
			c.added[b.ID] = true
			c.addedByPath[b.Path] = append(c.addedByPath[b.Path], b.ID)
		}
	}
	if c.added[id] || c.hadContent(ctx, p, id) {
		return true
	}
	return slices.ContainsFunc(c.addedByPath[p], func(b string) bool {
		return len(added) > 0 && 2*added.countIn(textLines(c.readBlob(ctx, b))) >= len(added)
	})
}

// hadContent reports whether a commit from before base has the content at the path.
func (c *commits) hadContent(ctx context.Context, p, id string) bool {
	return slices.ContainsFunc(gitdir.ListBlobs(ctx, c.root, c.before, nil, []string{p}), func(b gitdir.Blob) bool { return b.ID == id })
}

// readBlob reads a blob, nil if git does not have it.
func (c *commits) readBlob(ctx context.Context, id string) []byte {
	out, err := gitdir.RepoGit(ctx, c.root, "cat-file", "blob", id)
	if err != nil || len(out) > maxText {
		return nil
	}
	return out
}
