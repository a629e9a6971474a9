package event

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"supervise/snapshot"
)

// Shortfall is the data of restore_incomplete: where the tree differs from the restored
// snapshot, or could not be compared with it.
type Shortfall struct {
	Lost               []string `json:"lost"`                            // missing files of which no snapshot exists
	MissingRegenerable []string `json:"missing_regenerable,omitempty"`   // the same, but tools regenerate them
	Changed            []string `json:"changed,omitempty"`               // never kept, now with another size or time
	InUse              []string `json:"in_use,omitempty"`                // ignored files that differ, open in another program
	NewIgnored         []string `json:"new_ignored,omitempty"`           // new ignored files, not deleted
	NotDeleted         []string `json:"not_deleted,omitempty"`           // new files in no snapshot, therefore not deleted
	Displaced          []string `json:"displaced,omitempty"`             // files in no snapshot that blocked a restored path and were moved
	DisplacedTo        string   `json:"displaced_to,omitempty"`          // the folder that they were moved to
	Replaced           string   `json:"replaced,omitempty"`              // new path of a file or link that replaced the tree
	Fsck               string   `json:"git_fsck,omitempty"`              // result of git fsck --connectivity-only
	OwnerOrLinksDiffer []string `json:"owner_or_links_differ,omitempty"` // intact files with another owner or other hard links
	Differs            []string `json:"differs,omitempty"`               // files that differ from the snapshot after the restore
}

// NewShortfall collects the differences that a restore left.
func NewShortfall(res snapshot.Restored) Shortfall {
	s := Shortfall{
		Changed: res.Altered, InUse: res.InUse, NewIgnored: res.New, NotDeleted: res.Left,
		Fsck: res.Fsck, Displaced: res.Displaced, DisplacedTo: res.DisplacedTo, Replaced: res.Replaced,
	}
	for _, p := range res.Gone {
		if slices.Contains(res.Uncompared, p) || slices.Contains(res.Uncompared, p+"/") {
			s.MissingRegenerable = append(s.MissingRegenerable, p)
		} else {
			s.Lost = append(s.Lost, p)
		}
	}
	for _, m := range res.Mismatches {
		s.Differs = append(s.Differs, m.Path+" ("+m.Why+")")
	}
	for _, m := range res.Unlike {
		s.OwnerOrLinksDiffer = append(s.OwnerOrLinksDiffer, m.Path+" ("+m.Why+")")
	}
	return s
}

// IsEmpty reports whether the tree equals the snapshot.
func (s Shortfall) IsEmpty() bool { return len(s.Lines()) == 0 }

// Lines describes the differences, one line per kind.
func (s Shortfall) Lines() (out []string) {
	for _, row := range []struct {
		text string
		list []string
	}{
		{"not as the snapshot has it: ", s.Differs},
		{"intact, but with another owner or hard link: ", s.OwnerOrLinksDiffer},
		{"gone, in no snapshot, cannot be restored: ", s.Lost},
		{"changed, in no snapshot, cannot be restored: ", s.Changed},
		{"ignored, in use by another program or not ours to write, left as it is: ", s.InUse},
		{"new, left in place, too big or unreadable to be kept: ", s.NotDeleted},
		{"new and ignored, left in place: ", s.NewIgnored},
		{"in the way, too big or unreadable to be kept, moved to " + s.DisplacedTo + ": ", s.Displaced},
	} {
		if len(row.list) > 0 {
			out = append(out, row.text+joinFirst(row.list))
		}
	}

	if len(s.MissingRegenerable) > 0 {
		out = append(out, "missing, in no snapshot, tools regenerate it: "+SummarizePaths(s.MissingRegenerable))
	}
	if s.Fsck != "" {
		out = append(out, "git fsck finds: "+s.Fsck)
	}
	if s.Replaced != "" {
		out = append(out, "what was in the place of the tree is kept: "+s.Replaced)
	}
	return out
}

// TreeState is the result of comparing the tree with a snapshot after a restore.
type TreeState struct {
	Snapshot    string    `json:"snapshot"`
	Description string    `json:"as"` // of the tree, such as "that of iteration 2"
	Files       int       `json:"files_compared"`
	Git         int       `json:"git_files_compared"`
	Ignored     int       `json:"ignored_files_compared"`
	Shortfall   Shortfall `json:"except"`
	// Uncompared are ignored folders and files that are in no snapshot.
	Uncompared []string `json:"not_compared,omitempty"`
}

// NewTreeState returns the state of the tree after a restore. The description says in words
// which tree the snapshot contains.
func NewTreeState(res snapshot.Restored, description string) TreeState {
	t := TreeState{
		Snapshot: res.Target.Name(), Description: description, Files: res.Compared.Work, Git: res.Compared.Git, Ignored: res.Compared.Ignored,
		Shortfall: NewShortfall(res),
	}
	for _, p := range res.Uncompared {
		if !slices.Contains(res.Gone, strings.TrimSuffix(p, "/")) {
			t.Uncompared = append(t.Uncompared, p)
		}
	}
	return t
}

// String describes the state in one line.
func (t TreeState) String() string {
	text := "the tree is " + t.Description
	if except := t.Shortfall.Lines(); len(except) > 0 {
		text += ", except: " + strings.Join(except, "; ")
	}
	text += fmt.Sprintf("; compared with %s: files %d, in .git %d, ignored %d", t.Snapshot, t.Files, t.Git, t.Ignored)
	if names := SummarizePaths(t.Uncompared); names != "" {
		text += "; not compared: " + names
	}
	return text
}

// SummarizePaths lists ignored paths in short form. Several paths with the same base name, such as
// caches, become one entry with their number.
func SummarizePaths(paths []string) string {
	count := map[string]int{}
	var names []string
	firstPath := map[string]string{}
	for _, p := range paths {
		name := path.Base(p)
		if strings.HasSuffix(p, "/") {
			name += "/"
		}
		if count[name]++; count[name] == 1 {
			names, firstPath[name] = append(names, name), p
		}
	}
	for i, name := range names {
		if count[name] > 1 {
			names[i] = fmt.Sprintf("%s (%d)", name, count[name])
		} else {
			names[i] = firstPath[name]
		}
	}
	return joinFirst(names)
}

// joinFirst joins the first ten names and counts the others.
func joinFirst(names []string) string {
	const limit = 10
	if more := len(names) - limit; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), more)
	}
	return strings.Join(names, ", ")
}
