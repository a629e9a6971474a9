package source

import "fmt"

// File is what the text of a source file tells.
type File struct {
	// Language is Unknown for what is not source; then nothing else is set.
	Language Language
	// LOC counts the lines with code: not blank, not only comment. Text within
	// strings is code, but a Python docstring is a comment.
	LOC int
	// Functions are those with a body, in the order of the file. A file of
	// another language than Go that has code but no function stands as one
	// function named "(file)".
	Functions []Function
	// Tests are the test definitions, in the order of the file: of Go, Python,
	// JavaScript, TypeScript, Java, Kotlin, Rust, Ruby, PHP, C# and Swift.
	Tests []TestDef
}

func scan(path string, r *reading) (File, error) {
	file := File{Language: r.lang, LOC: countLines(r.src, r.kinds)}
	if r.lang == Go {
		var err error
		if file.Functions, file.Tests, err = scanGo(path, r.src); err == nil {
			return file, nil
		}
		file.Functions = functions(r.tokens())
		return file, fmt.Errorf("parse go source: %w", err)
	}
	t := r.tokens()
	file.Functions = functions(t)
	t.budget = blockBudget * len(t.list)
	file.Tests = findTests(path, r)
	return file, nil
}
