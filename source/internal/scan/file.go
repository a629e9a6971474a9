package scan

import (
	"fmt"

	"supervise/source/internal/function"
	"supervise/source/internal/gocode"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// File holds the facts that the text of a source file gives.
type File struct {
	// Language is Unknown for a file that is not source code. Then nothing else is set.
	Language language.Language
	// LOC is the number of lines with code, without blank lines and lines with only a comment.
	// The contents of strings are code, but a Python docstring is a comment.
	LOC int
	// Functions are the functions with a body, in the order of the file. A file with code but
	// without functions has one function named "(file)", unless it is a Go file that parses.
	Functions []function.Function
	// Tests are the test definitions, in the order of the file. A language without a shape in
	// package tests has none, except Go.
	Tests []tests.TestDef
}

// TestAround returns the innermost test that contains a line, nil for none.
func (f *File) TestAround(line int) *tests.TestDef {
	var best *tests.TestDef
	for i := range f.Tests {
		t := &f.Tests[i]
		isInner := best == nil || t.End-t.Line <= best.End-best.Line
		if t.Line <= line && line <= t.End && isInner {
			best = t
		}
	}
	return best
}

// FunctionAround returns the last function that starts at or before a line and contains it, nil for
// none. [function.FileScope] does not count.
func (f *File) FunctionAround(line int) *function.Function {
	var best *function.Function
	for i := range f.Functions {
		fn := &f.Functions[i]
		isInner := best == nil || fn.Line > best.Line
		if fn.Line <= line && line <= fn.End && isInner && fn.Name != function.FileScope {
			best = fn
		}
	}
	return best
}

// Read returns the facts about the file at path, whose text is r. The error is a syntax error of
// Go; then the functions are those that the scanner for the other languages finds.
func Read(path string, r *lex.Source) (File, error) {
	file := File{Language: r.Lang, LOC: lex.CountLines(r.Src, r.Kinds)}
	if r.Lang == language.Go {
		var err error
		if file.Functions, file.Tests, err = gocode.Read(path, r.Src); err == nil {
			return file, nil
		}
		file.Functions = function.FindFunctions(r.Tokens())
		return file, fmt.Errorf("parse go source: %w", err)
	}
	t := r.Tokens()
	file.Functions = function.FindFunctions(t)
	t.Budget = lex.BlockBudget * len(t.List)
	file.Tests = tests.FindTests(path, r)
	return file, nil
}
