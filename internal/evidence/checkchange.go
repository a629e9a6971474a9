package evidence

import (
	"bytes"
	"context"
	"strings"
	"unicode"

	"supervise/detector"
	"supervise/integrity"
	"supervise/snapshot"
	"supervise/source"
)

// CompareChecks returns what checks changed in the tree of a snapshot, where after is a snapshot of
// the tree after them. existed reports whether the base of the change has a file.
func CompareChecks(ctx context.Context, store *snapshot.Store, judged, after snapshot.ID, changes []snapshot.Change, existed func(path string) bool) ([]detector.CheckChange, error) {
	files, err := readFiles(changes, NewSnapshotReader(ctx, store, judged, after))
	return CheckChanges(files, ProjectTree(ctx, store, judged), existed), err
}

// CheckChanges returns what checks changed in a tree, for the rules. It omits their outputs: logs,
// caches, and new files that are neither tests nor configuration of test runners, unless existed
// reports that the base of the change has them.
func CheckChanges(files []integrity.File, judged integrity.Tree, existed func(path string) bool) []detector.CheckChange {
	roles := integrity.Roles(files, judged)
	var out []detector.CheckChange
	for _, f := range files {
		c := detector.CheckChange{Path: f.Path, Kind: string(snapshot.Modified), Part: partOf(f, roles[f.Path])}
		switch {
		case f.Added:
			c.Kind, c.Restored = string(snapshot.Added), existed(f.Path)
		case f.Deleted:
			c.Kind = string(snapshot.Deleted)
		}
		isCode := source.DetectLanguage(f.Path, nil) != source.Unknown
		isTest := c.Part == detector.RunnerPart || c.Part == detector.TestPart && isCode
		if roles[f.Path] != integrity.OtherFile && (!f.Added || c.Restored || isTest) {
			out = append(out, c)
		}
	}
	return out
}

// partOf returns what a changed file with a role is for.
func partOf(f integrity.File, role integrity.Role) detector.TreePart {
	switch {
	case IsReformatted(f.Path, f.Before, f.After):
		return ""
	case role.IsTestRelated() || inlineTestsChanged(f):
		return detector.TestPart
	case role == integrity.RunnerConfig || role == integrity.MixedConfig:
		return detector.RunnerPart
	case source.DetectLanguage(f.Path, nil) != source.Unknown:
		return detector.SourcePart
	}
	return ""
}

// IsReformatted reports whether a file of code differs only as formatters change it: in comments,
// white space, quotes, semicolons and trailing commas. A text is nil if there is none.
func IsReformatted(path string, before, after []byte) bool {
	if before == nil || after == nil || source.DetectLanguage(path, nil) == source.Unknown {
		return false
	}
	significant := func(text []byte) string {
		out := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || strings.ContainsRune(`'";`, r) {
				return -1
			}
			return r
		}, strings.Join(codeLines(path, text, nil), "\n"))
		return strings.NewReplacer(",)", ")", ",]", "]", ",}", "}").Replace(out)
	}
	return bytes.Equal(before, after) || significant(before) == significant(after)
}
