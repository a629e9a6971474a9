package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/event"
	"supervise/internal/measure"
	"supervise/internal/report/results"
	"supervise/parsers"

	"github.com/spf13/cobra"
)

// parseOptions are the options of supervise parse.
type parseOptions struct {
	files  []string
	format string
	json   bool
}

func newParseCmd(a *app) *cobra.Command {
	var o parseOptions
	cmd := &cobra.Command{
		Use: "parse FILE...", Short: "Show what supervise reads from reports of tests, coverage or linters",
		Long: `Report formats are detected from their content. "-" is standard input. A file that
cannot be read completely is an error, never fewer tests: the other files are still
read, and the exit status is 6.`,
		Example: `  supervise parse target/surefire-reports/*.xml
  go test -json ./... | supervise parse - --json`,
		Args: storeArgs(&o.files, cobra.MinimumNArgs(1)),
		RunE: func(*cobra.Command, []string) error { return runParse(a, o) },
	}
	cmd.Flags().StringVar(&o.format, "format", "", "read as this `format` instead of detecting it; an unknown one lists them")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, one object per line")
	return cmd
}

// runParse reads files with results and prints what they contain. It continues after a file that
// cannot be read.
func runParse(a *app, o parseOptions) error {
	if known := measure.Formats(); o.format != "" && !slices.Contains(known, o.format) {
		return usageError{fmt.Errorf("there is no format %s; the formats are %s", o.format, strings.Join(known, ", "))}
	}
	for _, name := range o.files {
		r, err := a.parseFile(name, o.format)
		p := results.NewParsed(name, r, o.json)
		if err != nil {
			a.code = event.Unmeasurable.ExitCode()
			p = results.Parsed{File: name, Format: p.Format, Producer: p.Producer, Error: err.Error()}
			fmt.Fprintf(a.err, "supervise: %v\n", err)
		}
		switch {
		case o.json:
			if err := a.encodeLines(p); err != nil {
				return err
			}
		case err == nil:
			a.text().PrintParsed(p)
		}
	}
	return nil
}

// parseFile reads one file, "-" for standard input. format is "" to detect it.
func (a *app) parseFile(name, format string) (measure.Report, error) {
	var in io.Reader = a.in
	if name != "-" {
		f, err := os.Open(name) //nolint:forbidigo // a person names it: pipes of the shell, too
		if err != nil {
			return measure.Report{}, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			if filepath.Ext(filepath.Clean(name)) == ".xcresult" {
				return measure.Report{}, errors.New(name + ": " + parsers.XcresultAdvice)
			}
			return measure.Report{}, errors.New(name + " is a folder: name the files in it")
		}
		in = f
	}
	return measure.Read(in, name, format)
}
