// Sweep measures public repositories, without any configuration, and compares it with their own
// commands: whether supervise counts the tests that the project's tool counts, and what
// it takes, in full and after an edit of one file. The repositories are rows of
// repos.yaml, pinned by commit, and nothing of them is kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		os.Exit(1)
	}
}

// flags are the command line.
type flags struct {
	binary, commit        string
	mirror, work, results string
	report, projects      string
	language              string
	only                  *regexp.Regexp
	again, keep, list     bool
	last                  int
	native, counts        bool
	verification          bool
	limit                 time.Duration
}

func parse(args []string) (*flags, error) {
	f := &flags{}
	fs := flag.NewFlagSet("sweep", flag.ContinueOnError)
	only := ""
	fs.StringVar(&f.binary, "binary", "", "the supervise program to measure")
	fs.StringVar(&f.commit, "commit", "", "its commit, for the results")
	fs.StringVar(&f.mirror, "mirror", os.Getenv("SWEEP_MIRROR"), "folder with the git directories OWNER+NAME/repo; without it they are cloned from their public address")
	fs.StringVar(&f.work, "work", filepath.Join(os.TempDir(), "sweep"), "folder for the checkouts, which are deleted after they were measured")
	fs.StringVar(&f.results, "results", filepath.Join("results", "sweep"), "folder with a file per repository")
	fs.StringVar(&f.report, "report", filepath.Join("results", "sweep.md"), "the report, written from all results")
	fs.StringVar(&f.projects, "projects", filepath.Join("..", "docs", "projects.md"), "the page that has the short table")
	fs.StringVar(&f.language, "language", "", "only repositories of this language")
	fs.StringVar(&only, "only", "", "only repositories whose name matches")
	fs.IntVar(&f.last, "last", 0, "the last twenty of that number, 1 to 5, which do not run without it")
	fs.BoolVar(&f.again, "again", false, "also those that have a result")
	fs.BoolVar(&f.keep, "keep", false, "keep the checkouts and what was printed")
	fs.BoolVar(&f.native, "native", false, "run the native commands alone and print what they count")
	fs.BoolVar(&f.counts, "counts", false, "count alone, once: no edits and no times, which a later run adds")
	fs.BoolVar(&f.verification, "verification", false, "print what measuring the selected tree again takes, and nothing else")
	fs.BoolVar(&f.list, "list", false, "list the repositories that would run, and write the report")
	fs.DurationVar(&f.limit, "limit", 10*time.Minute, "time limit of each command")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if f.binary == "" && !f.list && !f.native {
		return nil, errors.New("name the program to measure with -binary")
	}
	var err error
	if f.only, err = regexp.Compile(only); err != nil {
		return nil, err
	}
	for _, p := range []*string{&f.binary, &f.work, &f.results} {
		if *p, err = filepath.Abs(*p); err != nil {
			return nil, err
		}
	}
	return f, os.MkdirAll(f.results, 0o755)
}

// wants reports whether a repository is to run now. The last twenty run only if asked, or for
// -verification.
func (f *flags) wants(r *repo) bool {
	return (r.Last == f.last || f.verification) && f.only.MatchString(r.Name) &&
		(f.language == "" || strings.EqualFold(f.language, r.Language))
}

func run(ctx context.Context, args []string) error {
	f, err := parse(args)
	if err != nil {
		return err
	}
	t, err := load()
	if err != nil {
		return err
	}
	for _, r := range t.Repos {
		if !f.wants(r) {
			continue
		}
		if !f.again && !f.native && !f.verification && f.done(r) {
			continue
		}
		if f.list {
			fmt.Println(r.Name)
			continue
		}
		if f.verification {
			v, err := measureVerification(ctx, f, r)
			if err != nil {
				v.Name += ": " + err.Error()
			}
			fmt.Println(v)
			continue
		}
		res, err := measure(ctx, f, r)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			res.Error = err.Error()
		}
		fmt.Println(res.line(r))
		if f.native {
			continue
		}
		if err := res.write(f.file(r)); err != nil {
			return err
		}
	}
	if f.native || f.verification {
		return nil
	}
	return t.report(f)
}

// done reports whether a repository has a result, with times if they are wanted.
func (f *flags) done(r *repo) bool {
	res, err := read(f.file(r))
	return err == nil && (f.counts || !res.untimed())
}

// file is where the result of a repository is kept.
func (f *flags) file(r *repo) string {
	return filepath.Join(f.results, strings.ReplaceAll(r.Name, "/", "+")+".json")
}

// measured pairs the rows with their results, those that have any.
func (t *table) measured(f *flags) ([]*row, error) {
	var out []*row
	for _, r := range t.Repos {
		res, err := read(f.file(r))
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, err
		case res.Commit != r.Commit:
			return nil, fmt.Errorf("%s was measured at %s, and the table has %s: run it with -again", r.Name, res.Commit, r.Commit)
		default:
			out = append(out, &row{r, res})
		}
	}
	slices.SortStableFunc(out, func(a, b *row) int { return strings.Compare(a.repo.Language, b.repo.Language) })
	return out, nil
}
