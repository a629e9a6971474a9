// Cheats measures what supervise makes of cheats and of honest refactorings that
// others made and published: the benchmarks in the source distribution of checkwash,
// with real pytest. The distribution is fetched into a temporary folder and never
// kept. Cases at even positions of the sorted names are for development, one by one;
// of those at odd positions nothing but totals is ever printed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cheats:", err)
		os.Exit(1)
	}
}

// flags are the command line.
type flags struct {
	binary, sdist, keep string
	only                *regexp.Regexp
	half                string
	loop, short, notes  bool
	jobs                int
}

func parse(args []string) (*flags, error) {
	f := &flags{}
	fs := flag.NewFlagSet("cheats", flag.ContinueOnError)
	only := ""
	fs.StringVar(&f.binary, "binary", "", "the supervise program to measure")
	fs.StringVar(&f.sdist, "sdist", "", "an unpacked source distribution of "+distribution+"; fetched without it")
	fs.StringVar(&f.keep, "keep", "", "folder to keep the projects of the even half in")
	fs.StringVar(&only, "only", "", "only cases of the even half whose name matches")
	fs.StringVar(&f.half, "half", "both", "even, odd or both")
	fs.BoolVar(&f.loop, "loop", false, "through supervise run as well, with an agent that makes the change")
	fs.BoolVar(&f.notes, "notes", false, "findings of the even half, case by case")
	fs.IntVar(&f.jobs, "jobs", 2, "cases at a time")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if f.binary == "" {
		return nil, errors.New("name the program to measure with -binary")
	}
	if !slices.Contains([]string{"even", "odd", "both"}, f.half) {
		return nil, fmt.Errorf("-half is even, odd or both, not %s", f.half)
	}
	var err error
	if only != "" {
		f.half = "even"
		if f.only, err = regexp.Compile(only); err != nil {
			return nil, err
		}
	}
	f.binary, err = filepath.Abs(f.binary)
	return f, err
}

func run(args []string, w io.Writer) (err error) {
	f, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	b, err := newBench(f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if f.sdist == "" {
		if f.sdist, err = b.fetch(); err != nil {
			return err
		}
	}
	started := time.Now()
	cases, err := b.cases(filepath.Join(f.sdist, "benchmarks"))
	if err != nil {
		return err
	}
	b.measure(cases)
	printAll(w, cases, f)
	fmt.Fprintf(w, "\n%s, %s, %d cases, %.0f s\n", b.version, b.pytest, len(cases), time.Since(started).Seconds())
	return nil
}

// measure works on several cases at a time.
func (b *bench) measure(cases []*kase) {
	var wg sync.WaitGroup
	queue := make(chan *kase)
	for range max(1, b.flags.jobs) {
		wg.Go(func() {
			for c := range queue {
				b.one(c)
			}
		})
	}
	for _, c := range cases {
		queue <- c
	}
	close(queue)
	wg.Wait()
}

// one is all of one case.
func (b *bench) one(c *kase) {
	dir, err := os.MkdirTemp(b.dir, "case-")
	if err == nil {
		err = b.judge(c, dir)
	}
	if err != nil {
		c.unqualified = err.Error()
	}
	if b.flags.keep == "" || !c.open() {
		_ = os.RemoveAll(dir)
		return
	}
	to := filepath.Join(b.flags.keep, c.arm+"-"+c.name)
	_ = os.MkdirAll(b.flags.keep, 0o700)
	_ = os.RemoveAll(to)
	_ = os.Rename(dir, to)
}
