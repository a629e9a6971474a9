package snapshot

import (
	"bytes"
	"context"
	"slices"
	"sort"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/ignore"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// WorkLoss is a file with work of the user's that was in no commit when the store was made and is gone.
type WorkLoss struct {
	Path    string
	Kind    LossKind
	Ignored bool
	Kept    bool // the snapshots hold it
}

// LossKind says what became of a file.
type LossKind string

// The ways to lose work.
const (
	LostDeleted     LossKind = "deleted"
	LostEmptied     LossKind = "emptied"
	LostReverted    LossKind = "edits undone" // its content is what a commit had
	LostOverwritten LossKind = "overwritten"  // nothing of what the user had written is left
)

// LostWork lists, by path, what the snapshot base holds of the user's own work, start holds still, and now does not. Own
// work is what was untracked, or not as HEAD has it, when the store was made; and kept ignored files. It is lost when its
// content is at no path of now and in no commit, and
//
//   - the file is gone or empty, and less than half of its lines are in files that have changed since base;
//   - or it is again what a commit before base had, or what was staged when the store was made;
//   - or it is a text, none of the lines that the user had added is in any changed file, and all that the user had removed
//     are back. Four lines at least must have been added or removed. For an ignored file only the first counts.
//
// Work that the agent goes on with is not lost, nor are object files that an ignore file names. Where there is no
// repository nothing is known of what is the user's own.
func (s *Store) LostWork(ctx context.Context, base, start, now ID) ([]WorkLoss, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, b, err := s.both(base, now)
	if err != nil {
		return nil, err
	}
	c, err := s.manifest(start)
	if err != nil {
		return nil, err
	}
	own, err := ignore.ReadOwn(s.ownFile())
	if err != nil || own.Tips == nil {
		return nil, err
	}
	l := &losses{s: s, base: a, start: c, now: b, own: own}
	l.working()
	l.ignored()
	l.sift(ctx)
	out := append(l.toWork(), l.skipped()...)
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// losses looks for lost work.
type losses struct {
	s                *Store
	base, start, now *manifest.Manifest
	own              ignore.Own
	found            []*lost
	contents         map[pack.OID]bool // of now
	changed          lines             // of files that have changed since base
}

// lost is a file that may be lost.
type lost struct {
	WorkLoss
	was, is   *manifest.Entry // is: nil if it is gone
	committed string          // the id of what HEAD had, or of what was staged, where that is there now
}

func entryOf(list []manifest.Entry, p string) *manifest.Entry {
	if i := manifest.Lookup(list, p); i >= 0 {
		return fileOf(&list[i])
	}
	return nil
}

func sameContent(a, b *manifest.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.OID == b.OID
}

// working looks among the working files.
func (l *losses) working() {
	for path, committed := range l.own.Files {
		p := string(path)
		was, is := entryOf(l.base.Work, p), entryOf(l.now.Work, p)
		if was == nil || was.Stat.Size == 0 && was.Kind == disk.KindFile || was.OID.String() == committed || l.s.config.Excludes.Has(p) {
			continue
		}
		if sameContent(was, is) || sameContent(is, entryOf(l.start.Work, p)) || is == nil && l.now.HasSkipped(p) || l.has(was.OID) {
			continue
		}
		if staged := l.own.Staged[path]; is != nil && is.OID.String() == staged {
			committed = staged // that is there still, and what came on top of it is not
		}
		l.found = append(l.found, &lost{WorkLoss{Path: p, Kind: lossOf(is, committed), Kept: true}, was, is, committed})
	}
}

// lossOf says what a file that was there before is now.
func lossOf(is *manifest.Entry, committed string) LossKind {
	switch {
	case is == nil:
		return LostDeleted
	case is.OID.String() == committed:
		return LostReverted
	case is.Stat.Size == 0:
		return LostEmptied
	}
	return LostOverwritten
}

// ignored looks among the kept ignored files.
func (l *losses) ignored() {
	for i := range l.base.Kept {
		was := fileOf(&l.base.Kept[i])
		if was == nil || was.Stat.Size == 0 || l.s.config.Excludes.Has(was.Path) {
			continue
		}
		there := entryOf(l.now.Kept, was.Path) != nil || entryOf(l.now.Work, was.Path) != nil || l.now.HasSkipped(was.Path)
		if there || entryOf(l.start.Kept, was.Path) == nil || l.has(was.OID) || l.objectCode(was) {
			continue
		}
		l.found = append(l.found, &lost{WorkLoss: WorkLoss{Path: was.Path, Kind: LostDeleted, Ignored: true, Kept: true}, was: was})
	}
}

// skipped looks among the files that no snapshot holds.
func (l *losses) skipped() (out []WorkLoss) {
	for _, f := range l.base.Skipped {
		_, own := l.own.Files[manifest.PathText(f.Path)]
		ignored := f.Reason == OverKept
		if f.Mtime == 0 || !own && !ignored || l.s.config.Excludes.Has(f.Path) || l.there(l.now, f) || !l.there(l.start, f) {
			continue
		}
		out = append(out, WorkLoss{Path: f.Path, Kind: LostDeleted, Ignored: ignored})
	}
	return out
}

// there reports whether a skipped file exists, or one of the same size and time elsewhere.
func (l *losses) there(m *manifest.Manifest, f Skip) bool {
	return m.HasSkipped(f.Path) || entryOf(m.Work, f.Path) != nil || entryOf(m.Kept, f.Path) != nil ||
		slices.ContainsFunc(m.Skipped, func(o Skip) bool { return o.Size == f.Size && o.Mtime == f.Mtime })
}

// has reports whether a content is at any path.
func (l *losses) has(id pack.OID) bool {
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

// objectCode recognises what a compiler or linker makes.
func (l *losses) objectCode(e *manifest.Entry) bool {
	data, err := l.s.objects.Content(e.OID)
	return err == nil && slices.ContainsFunc([]string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ", "!<arch>", "\x00asm"}, func(magic string) bool {
		return bytes.HasPrefix(data, []byte(magic))
	})
}

// sift drops what lives on in other files or in a commit.
func (l *losses) sift(ctx context.Context) {
	if len(l.found) == 0 {
		return
	}
	l.changed = l.changedLines()
	repos := map[string]*commits{}
	l.found = slices.DeleteFunc(l.found, func(f *lost) bool {
		root := l.repository(f.Path)
		repo := repos[root]
		if repo == nil {
			repo = newCommits(l.s.gitRoot(root), l.own.Tips[manifest.PathText(root)])
			repos[root] = repo
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(f.Path, root), "/")
		return !l.isLost(ctx, f, repo, rel)
	})
}

func (l *losses) toWork() (out []WorkLoss) {
	for _, f := range l.found {
		out = append(out, f.WorkLoss)
	}
	return out
}

// repository is the root of the innermost repository that a path lies in.
func (l *losses) repository(p string) string {
	best := ""
	for root := range l.own.Tips {
		if r := string(root); len(r) > len(best) && strings.HasPrefix(p, r+"/") {
			best = r
		}
	}
	return best
}

// isLost decides about one file, by its lines first, which needs no history.
func (l *losses) isLost(ctx context.Context, f *lost, repo *commits, rel string) bool {
	mine, isText := l.lines(f.was)
	var gave lines // what the user removed
	if f.committed != "" {
		had := textLines(repo.content(ctx, f.committed))
		mine, gave = mine.without(had), had.without(mine)
	}
	if f.Kind == LostOverwritten && !(isText && l.replaced(f, mine, gave)) {
		if !repo.had(ctx, rel, f.is.OID.String()) {
			return false
		}
		f.Kind = LostReverted
	}
	if isText && f.Kind != LostOverwritten && l.livesOn(f, mine) {
		return false
	}
	return !repo.holds(ctx, rel, f.was.OID.String(), mine)
}

// replaced reports whether no line that the user added is left in any changed file, and all that the user removed are back.
func (l *losses) replaced(f *lost, mine, gave lines) bool {
	is, _ := l.lines(f.is)
	return len(mine) > 0 && len(mine)+len(gave) >= 4 && mine.in(l.changed) == 0 && gave.in(is) == len(gave)
}

// livesOn reports whether at least half of the user's lines are in changed files. Where the user had only removed lines, a
// deleted file takes nothing away.
func (l *losses) livesOn(f *lost, mine lines) bool {
	if len(mine) == 0 {
		return f.Kind == LostDeleted
	}
	return 2*mine.in(l.changed) >= len(mine)
}

// maxText is the size in bytes up to which lines of a file are looked at.
const maxText = 1 << 20

// changedLines are those of all files that are not as base has them.
func (l *losses) changedLines() lines {
	out := lines{}
	room := int64(32 << 20)
	for _, part := range []manifest.Part{manifest.PartWork, manifest.PartKept} {
		manifest.Pairs(*l.base.List(part), *l.now.List(part), func(o, e *manifest.Entry) {
			if e = fileOf(e); e == nil || sameContent(fileOf(o), e) || room < e.Stat.Size {
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

// lines reads those of a file, and reports whether it is a text.
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

// lines are the different lines of texts that have a letter or digit, without the space around them.
type lines map[string]bool

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

func (l lines) without(other lines) lines {
	out := lines{}
	for line := range l {
		if !other[line] {
			out[line] = true
		}
	}
	return out
}

// in counts the lines that another text has too.
func (l lines) in(other lines) (n int) {
	for line := range l {
		if other[line] {
			n++
		}
	}
	return n
}

// commits are those of one repository, as far as they matter. They are asked for when the first file is looked for.
type commits struct {
	root   string
	before []string
	asked  bool
	added  map[string]bool     // contents that commits since then brought
	at     map[string][]string // the same by path
}

func newCommits(root string, before []string) *commits { return &commits{root: root, before: before} }

func (s *Store) gitRoot(root string) string { return gitdir.Abs(s.work, root) }

// holds reports whether a commit has a content, or the path with at least half of the lines.
func (c *commits) holds(ctx context.Context, p, id string, mine lines) bool {
	if !c.asked {
		c.asked, c.added, c.at = true, map[string]bool{}, map[string][]string{}
		now := ignore.Tips(ctx, c.root)
		for _, b := range gitdir.Blobs(ctx, c.root, now, c.before, nil) {
			c.added[b.ID] = true
			c.at[b.Path] = append(c.at[b.Path], b.ID)
		}
	}
	if c.added[id] || c.had(ctx, p, id) {
		return true
	}
	return slices.ContainsFunc(c.at[p], func(b string) bool {
		return len(mine) > 0 && 2*mine.in(textLines(c.content(ctx, b))) >= len(mine)
	})
}

// had reports whether a commit that was there before has a content at a path.
func (c *commits) had(ctx context.Context, p, id string) bool {
	return slices.ContainsFunc(gitdir.Blobs(ctx, c.root, c.before, nil, []string{p}), func(b gitdir.Blob) bool { return b.ID == id })
}

// content reads an object; nil where git has none.
func (c *commits) content(ctx context.Context, id string) []byte {
	out, err := gitdir.RepoGit(ctx, c.root, "cat-file", "blob", id)
	if err != nil || len(out) > maxText {
		return nil
	}
	return out
}
