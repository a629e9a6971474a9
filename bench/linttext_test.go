package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reviewdog/errorformat"
)

// BenchmarkLintText reads 20 MB of the log of a build: what compilers, linters and make
// print, one after the other.
func BenchmarkLintText(b *testing.B) {
	compare(b, lintLogOf(buildLog, 20<<20), lintTextReaders()...)
}

// BenchmarkLintTextMillion reads a million findings of a compiler, all different.
func BenchmarkLintTextMillion(b *testing.B) {
	path := filepath.Join(b.TempDir(), "report.txt")
	if err := os.WriteFile(path, lintMillion(1_000_000), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	compareFrom(b, int(info.Size()), func() io.Reader { return io.NewSectionReader(f, 0, info.Size()) }, lintTextReaders()...)
}

func lintTextReaders() []reader {
	return []reader{ours("lint-text"), {"regexp-per-line", readByRegexp}, {"reviewdog-errorformat", readByErrorformat}}
}

// lintLine is the least of a finding.
type lintLine struct {
	file, level, message string
	line, column         int
}

var commonLine = regexp.MustCompile(`^([^\s:][^:]*):(\d+):(?:(\d+):)? (?:(error|warning|note): )?(.*)$`)

// readByRegexp is what a reader built on the standard library does: it knows one form of
// lines.
func readByRegexp(r io.Reader) (any, error) {
	var out []lintLine
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		m := commonLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		f := lintLine{file: m[1], level: m[4], message: m[5]}
		f.line, _ = strconv.Atoi(m[2])
		f.column, _ = strconv.Atoi(m[3])
		out = append(out, f)
	}
	return out, lines.Err()
}

// readByErrorformat reads with the forms that reviewdog has for C compilers and for most
// linters.
func readByErrorformat(r io.Reader) (any, error) {
	forms, err := errorformat.NewErrorformat([]string{`%f:%l:%c: %trror: %m`, `%f:%l:%c: %tarning: %m`, `%f:%l:%c: %tote: %m`, `%f:%l:%c: %m`, `%f:%l: %m`, `%-G%.%#`})
	if err != nil {
		return nil, err
	}
	var out []lintLine
	s := forms.NewScanner(r)
	for s.Scan() {
		if e := s.Entry(); e.Valid {
			out = append(out, lintLine{file: e.Filename, level: string(e.Type), message: e.Text, line: e.Lnum, column: e.Col})
		}
	}
	return out, nil
}

// lintLogOf returns a log of about size bytes, in which each tool prints for one file
// after the other.
func lintLogOf(log string, size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		stem := fmt.Sprintf("src/part%d/module%d", i/100, i)
		for _, line := range strings.Split(strings.NewReplacer("STEM", stem, "NAME", fmt.Sprintf("value%d", i), "LINE", strconv.Itoa(1+i*7%900), "COL", strconv.Itoa(1+i%80)).Replace(log), "\n") {
			b.WriteString(line + "\n")
		}
	}
	return b.Bytes()
}

// buildLog is what the tools print for one file of each language.
const buildLog = `[ 42%] Building CXX object CMakeFiles/shop.dir/STEM.cc.o
/usr/bin/c++ -DNDEBUG -Isrc/include -O2 -Wall -Wextra -std=gnu++20 -MD -MT STEM.cc.o -MF STEM.cc.o.d -o STEM.cc.o -c STEM.cc
STEM.cc: In function 'int price(int)':
STEM.cc:LINE:COL: warning: unused variable 'NAME' [-Wunused-variable]
   LINE |     int NAME = 3;
      |         ^~~~~~
STEM.cc:LINE:7: error: 'NAME2' was not declared in this scope; did you mean 'NAME'?
STEM.cc:LINE:9: note: declared here
STEM.py:LINE:COL: F401 'os.path.NAME' imported but unused
STEM.py:LINE:1: E501 line too long (101 > 88 characters)
STEM.py:LINE: error: Argument 1 to "NAME" has incompatible type "str"; expected "int"  [arg-type]
STEM.py:LINE:0: C0116: Missing function or method docstring (missing-function-docstring)
/project/STEM.js
  LINE:COL  error    'NAME' is assigned a value but never used  no-unused-vars
  LINE:2   warning  Unexpected console statement               no-console

STEM.ts(LINE,COL): error TS2322: Type 'string' is not assignable to type 'NAME'.
STEM.go:LINE:COL: Error return value of NAME is not checked (errcheck)
STEM.java:LINE: warning: [deprecation] NAME() in Shop has been deprecated
        NAME();
        ^
STEM.sh:LINE:COL: note: Double quote to prevent globbing and word splitting. [SC2086]
STEM.rb:LINE:COL: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings to NAME.
make[2]: Leaving directory '/project/build'
[INFO] Compiling 12 source files to /project/target/classes of module NAME
  all NAME is well in this line of a program that prints what it does, at length and without any finding`

// lintMillion returns n findings of a compiler.
func lintMillion(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "src/part%d/module%d.cc:%d:%d: warning: unused variable 'value%d' [-Wunused-variable]\n", i/10_000, i/100, 1+i%900, 1+i%80, i)
	}
	return b.Bytes()
}

// BenchmarkLintTextUnknown reads 20 MB of what tools print that nothing is known of.
func BenchmarkLintTextUnknown(b *testing.B) {
	readers := lintTextReaders()
	readers[0] = ours("errorformat")
	compare(b, lintLogOf(unknownLog, 20<<20), readers...)
}

// unknownLog is what tools print of whose forms none is known: places in files of a kind
// that is not known either, and lines that are no findings.
const unknownLog = `checking STEM.house against the rules of the house, version 3.2 of them
STEM.house:LINE:COL: key NAME is set twice, the second one wins
STEM.house:LINE: NAME has no unit
STEM.house:LINE:COL: NAME is used and never given
STEM.house:LINE: the block that begins here is not closed
STEM.house:LINE:2: NAME could be shorter
    key = NAME
          ^
STEM.house:LINE: no such record: NAME
12:04:51 rule NAME took 3 ms over STEM, and was found in 4 of 9 places
loading https://rules.example.com:8443/NAME/index.json
  all NAME is well in this line of a program that prints what it does, at length and without any finding`
