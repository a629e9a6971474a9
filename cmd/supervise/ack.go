package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ack"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/internal/treediff"

	"github.com/spf13/cobra"
)

// ackFlags are what is done with which finding.
type ackFlags struct {
	reason, expires, path string
	falsePositive         bool
	list, remove, json    bool
}

func (a *app) ackCmd() *cobra.Command {
	f := &ackFlags{}
	cmd := &cobra.Command{
		Use:   "ack FINDING --reason TEXT | ack --list | ack --remove ID",
		Short: "Accept a finding, so that it counts for nothing in the loops to come",
		Long: `Ack writes into ` + ack.FileName + `, which is meant to be committed, that a
finding is known and accepted. FINDING is its ID, or the beginning of it, as
reports and explain show it. From then on the same rule on the same tests is
reported as INFO and undoes nothing; with --path, the rule on all that lies there.
What the rule finds elsewhere counts as ever.

A loop reads the file once, at its start: edits of an agent change nothing.
--false-positive also counts the finding into the false-positive rate of
supervise status. --remove takes an entry out again.`,
		Example: "  supervise ack 3f9a2c1b --reason \"the tests moved to another repository\"\n  supervise ack 3f9a --reason \"generated\" --path 'gen/**' --expires never\n  supervise ack --list",
		Args: func(c *cobra.Command, args []string) error {
			if f.list {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.ack(cmd, f, first(args)) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.reason, "reason", "", "why it is acceptable")
	flags.StringVar(&f.expires, "expires", ack.DefaultExpiry, "how long it counts: 90d, 12w, its last day as 2026-12-31, or never")
	flags.StringVar(&f.path, "path", "", "accept what the rule finds in these files and folders, whichever tests; ** stands for any folders")
	flags.BoolVar(&f.falsePositive, "false-positive", false, "the finding was wrong: count it into the false-positive rate")
	flags.BoolVar(&f.list, "list", false, "list what is acknowledged")
	flags.BoolVar(&f.remove, "remove", false, "take the entry with this ID out")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	cmd.MarkFlagsMutuallyExclusive("list", "remove", "reason")
	return cmd
}

func (a *app) ack(cmd *cobra.Command, f *ackFlags, id string) error {
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	path := ack.Path(at.project)
	switch {
	case f.list:
		return a.ackList(path, f.json)
	case f.remove:
		return a.unacknowledge(at, path, id)
	case strings.TrimSpace(f.reason) == "":
		return usageError{errors.New("give a reason that others will understand: --reason TEXT")}
	}
	found, err := a.finding(at, id)
	if err != nil {
		return err
	}
	e, err := ack.Of(found.Alert, f.path, f.reason, f.expires, time.Now())
	if err != nil {
		return err
	}
	e.FalsePositive = f.falsePositive
	if err := a.acknowledge(at, path, e, f.json); err != nil {
		return err
	}
	return seen(cmd.Context(), path)
}

// ackRow is an entry as ack --list shows it.
type ackRow struct {
	ID string `json:"id"`
	ack.Entry
	Expired bool `json:"expired"`
}

func (a *app) ackList(path string, asJSON bool) error {
	list, err := ack.Load(path)
	if err != nil {
		return err
	}
	rows, now := make([]ackRow, 0, len(list)), time.Now()
	for _, e := range list {
		rows = append(rows, ackRow{e.ID(), e, e.Expired(now)})
	}
	if asJSON {
		return a.encode(rows)
	}
	for _, r := range rows {
		fmt.Fprintf(a.out, "%s  %-22s  %s  %s: %s\n", r.ID, r.Rule, validity(r), covers(r.Entry), r.Reason)
	}
	if len(rows) == 0 {
		fmt.Fprintf(a.err, "nothing is acknowledged in %s\n", path)
	}
	return nil
}

func validity(r ackRow) string {
	text := "until " + r.Expires
	switch {
	case r.Expired:
		text = "EXPIRED " + r.Expires
	case r.Expires == ack.Never:
		text = "for ever"
	case r.Expires == "":
		text = "from " + r.Date
	}
	if r.FalsePositive {
		text += ", false positive"
	}
	return text
}

func covers(e ack.Entry) string {
	switch {
	case e.Path != "":
		return "all in " + e.Path
	case len(e.Tests) > 0:
		return strings.Join(report.Cut(e.Tests, 5), ", ")
	case e.UpTo != nil:
		return fmt.Sprintf("this finding, up to %v", *e.UpTo)
	case e.Finding != "":
		return "this finding"
	}
	return "all of the rule"
}

func (a *app) acknowledge(at place, path string, e ack.Entry, asJSON bool) error {
	replaced := false
	err := a.editAcks(at, path, func(text string) (out string, err error) {
		out, replaced, err = ack.Add(text, e)
		return out, err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.encode(ackRow{e.ID(), e, e.Expired(time.Now())})
	}
	what := "acknowledged"
	if replaced {
		what = "acknowledged anew, the earlier entry is replaced"
	}
	fmt.Fprintf(a.out, "%s: %s %s, %s, %s\n", what, e.ID(), e.Rule, covers(e), validity(ackRow{Entry: e}))
	fmt.Fprintf(a.out, "it counts in loops that start from now on; commit %s\n", path)
	return a.noteResumable(at)
}

// noteResumable says what a resume of the latest loop would do with the file.
func (a *app) noteResumable(at place) error {
	home, err := a.home(at.root)
	if err != nil {
		return err
	}
	loops, err := ledger.Loops(home, at.root)
	if err == nil && len(loops) > 0 && goOn(loops[0]) != "" {
		fmt.Fprintf(a.out, "%s would go on by the rules it began with and from the tree it left, and keep this file in a snapshot alone: copy it, or start a new loop\n", goOn(loops[0]))
	}
	return err
}

func (a *app) unacknowledge(at place, path, id string) error {
	var removed bool
	err := a.editAcks(at, path, func(text string) (out string, err error) {
		out, removed, err = ack.Remove(text, id)
		if err == nil && !removed {
			err = usageError{fmt.Errorf("%s has no entry %s, or several that begin so; supervise ack --list shows all", path, id)}
		}
		return out, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "removed %s from %s\n", id, path)
	return nil
}

// editAcks changes the file while no loop runs in the tree: it would take the
// change for its agent's.
func (a *app) editAcks(at place, path string, edit func(string) (string, error)) error {
	tree, err := ledger.HoldTree(at.root)
	if err != nil {
		return fmt.Errorf("%w; a change now would be taken for its agent's: wait for the end of the loop", err)
	}
	defer tree.Close()
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read acknowledgements: %w", err)
	}
	text, err := edit(string(before))
	if err != nil {
		if errors.Is(err, ack.ErrInvalid) {
			return fmt.Errorf("%s: %w", path, err)
		}
		return err
	}
	return writeAcks(path, []byte(text))
}

// keepAcks returns what writes the acknowledgements as they are now again: to go
// back to another tree takes back no word that a person gave meanwhile.
func (a *app) keepAcks(ctx context.Context) (func() error, error) {
	at, err := a.place(ctx)
	if err != nil {
		return nil, err
	}
	path := ack.Path(at.project)
	now, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read acknowledgements: %w", err)
	}
	return func() error {
		if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, now) {
			return nil
		}
		if err := writeAcks(path, now); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s stays as it was before, with what is acknowledged\n", ack.FileName)
		return nil
	}, nil
}

func writeAcks(path string, text []byte) error {
	if err := ledger.WriteFile(path, text); err != nil {
		return err
	}
	return os.Chmod(path, 0o644) //nolint:gosec // it is part of the project, like its other files
}

// accepted reads what counts as acknowledged in a loop that starts now. The
// note says so, "" when nothing is.
func accepted(ctx context.Context, dir string, now time.Time) (list []detector.Acknowledgement, note string, err error) {
	path := ack.Path(dir)
	entries, err := ack.Load(path)
	if err == nil {
		err = seen(ctx, path)
	}
	if err != nil || len(entries) == 0 {
		return nil, "", err
	}
	list = ack.Acknowledgements(entries, now)
	note = fmt.Sprintf("%s in %s", report.Count(len(list), "acknowledged finding", "acknowledged findings"), ack.FileName)
	if expired := len(entries) - len(list); expired > 0 {
		note += fmt.Sprintf(", and %d expired; supervise ack --list", expired)
	}
	return list, note, nil
}

// seen refuses a file that git ignores: it is in no snapshot, and an agent could
// write it unseen.
func seen(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil && treediff.Ignored(ctx, path) {
		return fmt.Errorf("%w: git ignores %s, so that nobody would see who changed it: take it out of .gitignore and .git/info/exclude, and commit it", ack.ErrInvalid, path)
	}
	return nil
}

// minPrefix is how much of an ID must be given.
const minPrefix = 4

// finding looks a finding up by its ID or the beginning of it, in the loops of
// the tree, the latest first.
func (a *app) finding(at place, id string) (ledger.Finding, error) {
	home, err := a.home(at.root)
	if err != nil {
		return ledger.Finding{}, err
	}
	loops, err := ledger.Loops(home, at.root)
	if err != nil {
		return ledger.Finding{}, err
	}
	if len(id) < minPrefix {
		return ledger.Finding{}, usageError{fmt.Errorf("%q is too short for the ID of a finding: give at least %d of its digits", id, minPrefix)}
	}
	for _, s := range loops {
		list, err := ledger.Findings(ledger.Dir(home, s.LoopID))
		if err != nil {
			return ledger.Finding{}, err
		}
		found, err := pick(list, strings.ToLower(id))
		if err != nil {
			return ledger.Finding{}, err
		}
		if found != nil {
			return *found, nil
		}
	}
	found, err := pick(gateFindings(home), strings.ToLower(id))
	if err != nil {
		return ledger.Finding{}, err
	}
	if found != nil {
		return *found, nil
	}
	return ledger.Finding{}, usageError{fmt.Errorf("no loop of %s raised a finding %s, nor did the last gate here; supervise explain LOOP N names them", at.root, id)}
}

// pick returns the finding whose ID begins so, nil for none.
func pick(list []ledger.Finding, prefix string) (*ledger.Finding, error) {
	var out *ledger.Finding
	for i, f := range list {
		id := f.Alert.ID()
		if !strings.HasPrefix(id, prefix) || f.Alert.Severity <= detector.Info && f.Alert.Acknowledged == nil {
			continue
		}
		if out != nil && out.Alert.ID() != id {
			return nil, usageError{fmt.Errorf("%s begins several findings, %s and %s among them: give more of the ID", prefix, out.Alert.ID(), id)}
		}
		out = &list[i]
	}
	return out, nil
}
