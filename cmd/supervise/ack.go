package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"supervise/detector"
	"supervise/internal/ack"
	"supervise/internal/ledger"
	"supervise/internal/mergegate"
	"supervise/internal/projectfile"
	"supervise/internal/report"
	"supervise/internal/report/results"
	"supervise/internal/treediff"
)

// ackOptions are the options of supervise ack.
type ackOptions struct {
	id                    string // ID of the finding, or of the entry to remove
	reason, expires, path string
	falsePositive         bool
	list, remove, json    bool
}

func newAckCmd(a *app) *cobra.Command {
	var o ackOptions
	cmd := &cobra.Command{
		Use:   "ack FINDING --reason TEXT | ack --list | ack --remove ID",
		Short: "Acknowledge a finding, so that later loops ignore it",
		Long: `The acknowledgement is written to ` + ack.FileName + `; commit that file.
FINDING is the ID, or its beginning, that reports and supervise explain show. From
then on the same rule on the same tests is reported as INFO and rolls back nothing, and
so are other rules on them; with --path, the same rule on any test below that path.
Other findings of the rule count as before. A loop reads the file once, when it
starts, so an agent cannot use it.`,
		Example: `  supervise ack 3f9a2c1b --reason "the tests moved to another repository"
  supervise ack 3f9a --reason "generated" --path 'gen/**' --expires never
  supervise ack --list`,
		Args: func(c *cobra.Command, args []string) error {
			o.id = firstArg(args)
			if o.list {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: inWorkspace(a.workspaceAndHome, func(ctx context.Context, at workspace) error { return runAck(ctx, a, at, o) }),
	}

	flags := cmd.Flags()
	flags.StringVar(&o.reason, "reason", "", "why the finding is acceptable")
	flags.StringVar(&o.expires, "expires", ack.DefaultExpiry, "how long it counts: 90d, 12w, a last day like 2026-12-31, or never")
	flags.StringVar(&o.path, "path", "", "acknowledge what the rule finds below this `path`, for any test; ** matches any folders")
	flags.BoolVar(&o.falsePositive, "false-positive", false, "the finding was wrong: count it in the false-positive rate of supervise status")
	flags.BoolVar(&o.list, "list", false, "list the acknowledgements")
	flags.BoolVar(&o.remove, "remove", false, "remove the entry with this ID")
	flags.BoolVar(&o.json, "json", false, "print as JSON")
	cmd.MarkFlagsMutuallyExclusive("list", "remove", "reason")
	return cmd
}

// runAck lists, removes or adds acknowledgements.
func runAck(ctx context.Context, a *app, at workspace, o ackOptions) error {
	path := ack.Path(at.project)
	switch {
	case o.list:
		return a.listAcks(path, o.json)
	case o.remove:
		return a.removeAck(at, path, o.id)
	case strings.TrimSpace(o.reason) == "":
		return usageError{errors.New("give a reason that others will understand: --reason TEXT")}
	}

	found, err := a.findFinding(at, o.id)
	if err != nil {
		return err
	}

	e, err := ack.NewEntry(found.Alert, o.path, o.reason, o.expires, time.Now())
	if err != nil {
		return err
	}

	e.FalsePositive = o.falsePositive
	if err := a.addAck(at, path, e, o.json); err != nil {
		return err
	}
	if err := a.passToLoop(at, found.LoopID, e, o.json); err != nil {
		return err
	}
	return requireTracked(ctx, path)
}

// passToLoop adds an acknowledgement to those of the loop with the finding, for resume. Those of a
// loop that did not end are left alone, because its agent may still be running.
func (a *app) passToLoop(at workspace, loop string, e ack.Entry, quiet bool) error {
	if loop == "" {
		return nil
	}
	dir := ledger.LoopDir(at.home, loop)
	state, err := ledger.ReadState(dir)
	if err != nil || state.Status == ledger.Running {
		return err
	}
	path := filepath.Join(dir, ack.LoopFileName)
	err = editAckFile(path, func(text string) (out string, err error) {
		out, _, err = ack.Add(text, e)
		return out, err
	})
	if next := results.ContinueCommand(state); err == nil && next != "" && !quiet {
		fmt.Fprintf(a.out, "%s uses it too\n", next)
	}
	return err
}

// listAcks prints the acknowledgements in the file.
func (a *app) listAcks(path string, asJSON bool) error {
	list, err := ack.Load(path)
	if err != nil {
		return err
	}
	rows := make([]results.Ack, 0, len(list))
	for _, e := range list {
		rows = append(rows, results.NewAck(e, time.Now()))
	}
	if asJSON {
		return a.encode(rows)
	}
	for _, r := range rows {
		a.text().PrintAck(r)
	}
	if len(rows) == 0 {
		fmt.Fprintf(a.err, "%s has no acknowledgements\n", path)
	}
	return nil
}

// addAck writes an acknowledgement to the file, and replaces an earlier one with the same ID.
func (a *app) addAck(at workspace, path string, e ack.Entry, asJSON bool) error {
	replaced := false
	err := a.editAcks(at, path, func(text string) (out string, err error) {
		out, replaced, err = ack.Add(text, e)
		return out, err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.encode(results.NewAck(e, time.Now()))
	}
	a.text().PrintAcknowledged(results.NewAck(e, time.Now()), replaced, path)
	return nil
}

// removeAck removes the acknowledgement whose ID starts with id.
func (a *app) removeAck(at workspace, path, id string) error {
	var removed bool
	err := a.editAcks(at, path, func(text string) (out string, err error) {
		out, removed, err = ack.Remove(text, id)
		if err == nil && !removed {
			err = usageError{fmt.Errorf("%s has no entry %s, or several that begin with it; supervise ack --list shows all", path, id)}
		}
		return out, err
	})
	if err != nil {
		return err
	}
	loops, err := ledger.ListLoops(at.home, at.root)
	for _, s := range loops {
		err = errors.Join(err, editAckFile(filepath.Join(ledger.LoopDir(at.home, s.LoopID), ack.LoopFileName), func(text string) (string, error) {
			out, _, err := ack.Remove(text, id)
			return out, err
		}))
	}
	fmt.Fprintf(a.out, "removed %s from %s\n", id, path)
	return err
}

// editAcks replaces the text of the file by what edit returns for it. It returns an error if a loop
// runs in the tree, because the loop would attribute the change to its agent.
func (a *app) editAcks(at workspace, path string, edit func(string) (string, error)) error {
	tree, err := ledger.LockTree(at.root)
	if err != nil {
		return fmt.Errorf("%w; the change would count as its agent's: wait for the end of the loop", err)
	}
	defer tree.Close()
	return editAckFile(path, edit)
}

// editAckFile replaces the text of a file with acknowledgements by what edit returns for it.
func editAckFile(path string, edit func(string) (string, error)) error {
	before, err := projectfile.Read(path, projectfile.Settings)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read acknowledgements: %w", err)
	}
	text, err := edit(string(before))
	if err == nil && text == string(before) {
		return nil
	}
	if err != nil {
		if errors.Is(err, ack.ErrInvalid) {
			return fmt.Errorf("%s: %w", path, err)
		}
		return err
	}
	return writeAcks(path, []byte(text))
}

// acksRestorer returns a function that writes the acknowledgements back as they are now. It is
// called after a rollback, because a rollback must not revoke acknowledgements.
func (a *app) acksRestorer(ctx context.Context) (func() error, error) {
	at, err := a.workspace(ctx)
	if err != nil {
		return nil, err
	}

	path := ack.Path(at.project)
	current, err := projectfile.Read(path, projectfile.Settings)
	if errors.Is(err, os.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read acknowledgements: %w", err)
	}

	return func() error {
		restored, err := projectfile.Read(path, projectfile.Settings)
		if err == nil && bytes.Equal(restored, current) {
			return nil
		}
		if err := writeAcks(path, current); err != nil {
			return err
		}
		fmt.Fprintf(a.err, "%s keeps its current acknowledgements\n", ack.FileName)
		a.tree += "; unchanged: " + ack.FileName
		return nil
	}, nil
}

// writeAcks writes the file of the acknowledgements.
func writeAcks(path string, text []byte) error {
	if err := ledger.WriteFile(path, text); err != nil {
		return err
	}
	return os.Chmod(path, 0o644) //nolint:gosec // it is part of the project, like its other files
}

// acceptedFindings reads the acknowledgements that apply to a loop that starts now. note says how
// many there are, and is "" if there are none.
func acceptedFindings(ctx context.Context, dir string, now time.Time) (list []detector.Acknowledgement, note string, err error) {
	path := ack.Path(dir)
	entries, err := ack.Load(path)
	if err == nil {
		err = requireTracked(ctx, path)
	}
	if err != nil || len(entries) == 0 {
		return nil, "", err
	}
	list = ack.Acknowledgements(entries, now)
	note = fmt.Sprintf("%s in %s", report.Pluralize(len(list), "acknowledged finding", "acknowledged findings"), ack.FileName)
	if expired := len(entries) - len(list); expired > 0 {
		note += fmt.Sprintf(", and %d expired; supervise ack --list", expired)
	}
	return list, note, nil
}

// requireTracked returns an error if git ignores the file. It would be in no snapshot then, and an
// agent could change it unnoticed.
func requireTracked(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil && treediff.IsIgnored(ctx, path) {
		return fmt.Errorf("%w: git ignores %s, so a change by the agent would stay unnoticed: remove it from .gitignore and .git/info/exclude, and commit it", ack.ErrInvalid, path)
	}
	return nil
}

// findFinding finds a finding by the beginning of its ID. It looks in the loops of the tree, the
// latest first, and then in the last merge gate.
func (a *app) findFinding(at workspace, id string) (ledger.Finding, error) {
	loops, err := ledger.ListLoops(at.home, at.root)
	if err != nil {
		return ledger.Finding{}, err
	}
	for _, s := range loops {
		list, err := ledger.ReadFindings(ledger.LoopDir(at.home, s.LoopID))
		if err != nil {
			return ledger.Finding{}, err
		}
		if found, err := ledger.PickFinding(list, id); found != nil || err != nil {
			return *cmp.Or(found, &ledger.Finding{}), err
		}
	}
	found, err := ledger.PickFinding(mergegate.LastFindings(at.home), id)
	if found == nil && err == nil {
		err = usageError{fmt.Errorf("no finding %s in the loops of %s, nor in its last merge gate; supervise explain LOOP N names them", id, at.root)}
	}
	return *cmp.Or(found, &ledger.Finding{}), err
}
