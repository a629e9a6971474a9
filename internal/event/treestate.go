package event

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"supervise/snapshot"
)

// Shortfall is the data of restore_incomplete: what is not as the restored snapshot has
// it, or could not be compared with it.
type Shortfall struct {
	Lost               []string `json:"lost"`                            // was there, was not kept, and is gone
	MissingRegenerable []string `json:"missing_regenerable,omitempty"`   // the same, of what tools make anew
	Changed            []string `json:"changed,omitempty"`               // was not kept either time, and has another size or time
	InUse              []string `json:"in_use,omitempty"`                // ignored, and differs: another program has it open
	NewIgnored         []string `json:"new_ignored,omitempty"`           // ignored, was not there, and is not deleted
	NotDeleted         []string `json:"not_deleted,omitempty"`           // new, in no snapshot, and so not deleted
	Displaced          []string `json:"displaced,omitempty"`             // was in the way, is in no snapshot, and was moved
	DisplacedTo        string   `json:"displaced_to,omitempty"`          // where to
	Replaced           string   `json:"replaced,omitempty"`              // where the file or link is that was in the place of the tree
	Fsck               string   `json:"git_fsck,omitempty"`              // what git fsck --connectivity-only finds
	OwnerOrLinksDiffer []string `json:"owner_or_links_differ,omitempty"` // is whole, and belongs to somebody else, or has other hard links
	Differs            []string `json:"differs,omitempty"`               // should have been put back, and is not as the snapshot has it
}

// NewShortfall collects what a restore did not bring back.
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

// IsEmpty reports whether all is as the snapshot has it.
func (s Shortfall) IsEmpty() bool { return len(s.Lines()) == 0 }

// Lines says what is not as the snapshot has it, one line for each kind.
func (s Shortfall) Lines() (out []string) {
	for _, row := range []struct {
		text string
		list []string
	}{
		{"not as the snapshot has it: ", s.Differs},
		{"whole, but with another owner or hard link: ", s.OwnerOrLinksDiffer},
		{"gone, in no snapshot, cannot be restored: ", s.Lost},
		{"changed, in no snapshot, cannot be restored: ", s.Changed},
		{"ignored, in use by another program or not ours to write, left as it is: ", s.InUse},
		{"new, left in place, too big or unreadable to be kept: ", s.NotDeleted},
		{"new and ignored, left in place: ", s.NewIgnored},
		{"in the way, too big or unreadable to be kept, moved to " + s.DisplacedTo + ": ", s.Displaced},
	} {
		if len(row.list) > 0 {
			out = append(out, row.text+some(row.list))
		}
	}
	if len(s.MissingRegenerable) > 0 {
		out = append(out, "gone, in no snapshot, tools make it anew: "+SummarizePaths(s.MissingRegenerable))
	}
	if s.Fsck != "" {
		out = append(out, "git fsck finds: "+s.Fsck)
	}
	if s.Replaced != "" {
		out = append(out, "what was in the place of the tree is kept: "+s.Replaced)
	}
	return out
}

// TreeState is what the tree was found to be when it was compared with a snapshot, after
// that had been put back.
type TreeState struct {
	Snapshot    string    `json:"snapshot"`
	Description string    `json:"as"` // whose tree that is, such as "that of iteration 2"
	Files       int       `json:"files_compared"`
	Git         int       `json:"git_files_compared"`
	Ignored     int       `json:"ignored_files_compared"`
	Shortfall   Shortfall `json:"except"`
	// Uncompared are ignored folders and files of which no snapshot is kept.
	Uncompared []string `json:"not_compared,omitempty"`
}

// NewTreeState is the tree after a restore; as says in words whose tree the snapshot holds.
func NewTreeState(res snapshot.Restored, as string) TreeState {
	t := TreeState{
		Snapshot: res.Target.Name(), Description: as, Files: res.Compared.Work, Git: res.Compared.Git, Ignored: res.Compared.Ignored,
		Shortfall: NewShortfall(res),
	}
	for _, p := range res.Uncompared {
		if !slices.Contains(res.Gone, strings.TrimSuffix(p, "/")) {
			t.Uncompared = append(t.Uncompared, p)
		}
	}
	return t
}

// String is the last line of what was restored.
func (t TreeState) String() string {
	text := "the tree is " + t.Description
	if except := t.Shortfall.Lines(); len(except) > 0 {
		text += ", except: " + strings.Join(except, "; ")
	}
	text += fmt.Sprintf("; compared with %s: files %d, git's own %d, ignored %d", t.Snapshot, t.Files, t.Git, t.Ignored)
	if names := SummarizePaths(t.Uncompared); names != "" {
		text += "; not compared: " + names
	}
	return text
}

// SummarizePaths lists ignored paths for people: those with one name, such as caches, by that name.
func SummarizePaths(paths []string) string {
	count := map[string]int{}
	var names []string
	whole := map[string]string{}
	for _, p := range paths {
		name := path.Base(p)
		if strings.HasSuffix(p, "/") {
			name += "/"
		}
		if count[name]++; count[name] == 1 {
			names, whole[name] = append(names, name), p
		}
	}
	for i, name := range names {
		if count[name] > 1 {
			names[i] = fmt.Sprintf("%s (%d)", name, count[name])
		} else {
			names[i] = whole[name]
		}
	}
	return some(names)
}

// some joins the first names, and counts the others.
func some(list []string) string {
	const most = 10
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}
