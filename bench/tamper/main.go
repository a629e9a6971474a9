// Tamper measures the package integrity: it makes a corpus of honest and of
// tampered changes out of real repositories, audits all of them with the code that
// `supervise audit` calls, and prints recall, false positives and false discovery
// rates. The mutators are written from the catalogue of patterns, not from the
// rules, and find tests in their own way.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"supervise/bench/tamper/internal/mutate"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tamper:", err)
		os.Exit(1)
	}
}

// flags are the command line.
type flags struct {
	set      settings
	tune     []string
	report   []string
	binary   string
	asJSON   bool
	examples int
	force    bool
	jobs     int
	tiny     bool
	executed bool
	each     time.Duration // for one commit that is executed
}

const usage = `Usage: tamper [flags] [DIR...]
       tamper [flags] -tune DIR... -report DIR...

DIR are git directories, with or without a work tree; those behind -tune may be
looked at while rules are written, those behind -report may not.

`

func parse(args []string) (*flags, error) {
	f := &flags{}
	fs := flag.NewFlagSet("tamper", flag.ContinueOnError)
	only := ""
	fs.IntVar(&f.set.negatives, "negatives", 300, "commits that touch tests, for each repository")
	fs.IntVar(&f.set.maxFiles, "max-files", 200, "leave out commits with more files")
	fs.IntVar(&f.set.samples, "samples", 12, "mutants for each mutator, variant and repository")
	fs.IntVar(&f.set.bases, "bases", 12, "states of each repository that are mutated")
	fs.Uint64Var(&f.set.seed, "seed", 1, "seed: the same gives the same mutants")
	fs.StringVar(&only, "mutators", "", "only these, as 1,5,22-31; 0 for none")
	fs.StringVar(&f.binary, "binary", "", "supervise program whose audit's latency is measured, too")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	fs.IntVar(&f.examples, "examples", 0, "print so many false positives and misses of each kind")
	fs.BoolVar(&f.force, "force", false, "examples of report repositories, too")
	limit := fs.Duration("limit", 0, "begin no mutants, or commits with -executed, after so long; 0 for no limit")
	fs.IntVar(&f.jobs, "jobs", 2, "repositories at a time")
	fs.BoolVar(&f.executed, "executed", false, "honest commits alone, with their tests, through -binary replay; DIR are checkouts with what their tests need")
	fs.DurationVar(&f.each, "each", 2*time.Minute, "limit for one commit with -executed; then it is judged by text")
	fs.BoolVar(&f.tiny, "tiny", false, "add the generated tiny projects, one for each language")
	fs.Usage = func() { fmt.Fprint(fs.Output(), usage); fs.PrintDefaults() }
	// The flag package knows no lists: they are taken out before.
	var rest []string
	for len(args) > 0 {
		list := map[string]*[]string{"tune": &f.tune, "report": &f.report}[strings.TrimLeft(args[0], "-")]
		if list == nil || !strings.HasPrefix(args[0], "-") {
			rest, args = append(rest, args[0]), args[1:]
			continue
		}
		for args = args[1:]; len(args) > 0 && !strings.HasPrefix(args[0], "-"); args = args[1:] {
			*list = append(*list, args[0])
		}
	}
	if err := fs.Parse(rest); err != nil {
		return nil, err
	}
	f.tune = append(f.tune, fs.Args()...)
	if *limit > 0 {
		f.set.until = time.Now().Add(*limit)
	}
	var err error
	if f.set.only, err = numbers(only); err != nil {
		return nil, err
	}
	if len(f.tune)+len(f.report) == 0 && !f.tiny {
		return nil, errors.New("no repository: name git directories, or -tiny")
	}
	if f.executed && f.binary == "" {
		return nil, errors.New("-executed: name the supervise program with -binary")
	}
	return f, nil
}

func numbers(list string) (map[int]bool, error) {
	out := map[int]bool{}
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		from, to, dash := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if err == nil && dash {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b > 42 {
			return nil, fmt.Errorf("-mutators %q: numbers from 1 to 42 and ranges, as 1,5,22-31", part)
		}
		for ; a <= b; a++ {
			out[a] = true
		}
	}
	return out, nil
}

func run(args []string, w io.Writer) error {
	f, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.executed {
		return executeAll(f, w)
	}
	res := &results{Command: strings.Join(args, " "), Settings: f.set.String()}
	if err := measureAll(f, res); err != nil {
		return err
	}
	if f.asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(res.summary())
	}
	res.print(w)
	if f.examples > 0 {
		res.examples(w, f)
	}
	return nil
}

func (s settings) String() string {
	return fmt.Sprintf("%d commits a repository of at most %d files; %d mutants for each mutator, variant and repository on %d states; seed %d",
		s.negatives, s.maxFiles, s.samples, s.bases, s.seed)
}

// measureAll works on several repositories at a time; the order of the results is
// that of the command line.
func measureAll(f *flags, res *results) error {
	chk := newChecker()
	defer chk.close()
	type job struct {
		dir, group string
	}
	var jobs []job
	for _, d := range f.tune {
		jobs = append(jobs, job{d, "tune"})
	}
	for _, d := range f.report {
		jobs = append(jobs, job{d, "report"})
	}
	parts := make([]*part, len(jobs))
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(1, f.jobs))
	for i, j := range jobs {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			parts[i], errs[i] = measure(j.dir, f, chk)
			if parts[i] != nil {
				parts[i].Group = j.group
			}
		})
	}
	wg.Wait()
	res.parts = append(res.parts, parts...)
	if f.tiny {
		for _, p := range tinyProjects() {
			t := measureMutants(p, f.set, chk)
			t.Group = "tune"
			res.parts = append(res.parts, t)
		}
	}
	return errors.Join(errs...)
}

// measure is all of one repository.
func measure(dir string, f *flags, chk *checker) (*part, error) {
	p, err := openProject(dir, f.set)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.repo.Close() }()
	neg, err := p.negatives()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	out := measureMutants(p, f.set, chk)
	out.negatives = neg
	if f.binary != "" {
		out.binary = p.latency(f.binary)
	}
	fmt.Fprintf(os.Stderr, "%s: %d commits, %d mutants\n", p.name, len(neg), len(out.positives))
	return out, nil
}

// measureMutants goes round all mutators and variants again and again, so that a limit of
// time leaves as many of each.
func measureMutants(p *project, set settings, chk *checker) *part {
	out := &part{Repo: p.name, Head: p.head}
	late := func() bool { return !set.until.IsZero() && time.Now().After(set.until) }
	for _, v := range mutate.Variants {
		if v.Key != "bare" && v.Key != "d" && !late() && (len(set.only) == 0 || set.only[0]) {
			out.controls = append(out.controls, p.controls(v, set, chk)...)
		}
	}
	for round := range set.samples {
		for _, v := range mutate.Variants {
			for _, m := range mutate.All {
				if len(set.only) > 0 && !set.only[m.ID] || late() {
					continue
				}
				if o, ok := p.positive(m, v, round, set.seed, chk); ok {
					out.positives = append(out.positives, o)
				}
			}
		}
	}
	return out
}
