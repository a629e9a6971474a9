package bench

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"supervise/coverage"
)

// ourCoverage reads a report as the program does: the format is recognised.
var ourCoverage = reader{"ours", func(r io.Reader) (any, error) {
	report, err := coverage.Read(r, "report")
	return report, err
}}

// BenchmarkLCOV reads an LCOV tracefile of 50 MB. There is no library for Go to
// compare with.
func BenchmarkLCOV(b *testing.B) {
	compare(b, lcovOf(50<<20),
		ourCoverage,
		reader{"bufio-strings", readLCOV},
		reader{"bufio-only", readLines},
	)
}

// readLCOV is what a reader built on the standard library does: the counts of
// lines and branches of each file.
func readLCOV(r io.Reader) (any, error) {
	type file struct {
		lines    map[int]int
		branches map[string]bool
	}
	files := map[string]file{}
	var open file
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		fields := strings.Split(value, ",")
		switch key {
		case "SF":
			open = file{map[int]int{}, map[string]bool{}}
			files[value] = open
		case "DA":
			line, err := strconv.Atoi(fields[0])
			count, errCount := strconv.Atoi(fields[1])
			if err := errors.Join(err, errCount); err != nil {
				return nil, fmt.Errorf("line %s: %w", value, err)
			}
			open.lines[line] += count
		case "BRDA":
			open.branches[strings.Join(fields[:3], ",")] = fields[3] != "-" && fields[3] != "0"
		}
	}
	return files, lines.Err()
}

// readLines reads lines and understands nothing: the most that a reader built
// on bufio.Scanner can reach.
func readLines(r io.Reader) (any, error) {
	n := 0
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		n += len(lines.Bytes())
	}
	return n, lines.Err()
}

// BenchmarkCobertura reads Cobertura XML of 50 MB.
func BenchmarkCobertura(b *testing.B) {
	compare(b, coberturaOf(50<<20),
		ourCoverage,
		reader{"encoding-xml", readCobertura},
		reader{"encoding-xml-tokens", readTokens},
	)
}

// coberturaXML is the least that a reader built on the standard library
// decodes.
type coberturaXML struct {
	Classes []struct {
		File  string `xml:"filename,attr"`
		Lines []struct {
			Number    int    `xml:"number,attr"`
			Hits      int    `xml:"hits,attr"`
			Condition string `xml:"condition-coverage,attr"`
		} `xml:"lines>line"`
	} `xml:"packages>package>classes>class"`
}

func readCobertura(r io.Reader) (any, error) {
	var report coberturaXML
	err := xml.NewDecoder(r).Decode(&report)
	return report, err
}

// readTokens reads tokens and understands nothing: the most that a reader built
// on encoding/xml can reach.
func readTokens(r io.Reader) (any, error) {
	n := 0
	for d := xml.NewDecoder(r); ; n++ {
		if _, err := d.RawToken(); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return nil, err
		}
	}
}
