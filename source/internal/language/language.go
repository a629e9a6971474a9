package language

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
)

// Language is the programming language a file is written in. The zero value
// is Unknown, which represents everything that is not source code.
type Language uint8

// The languages that this package reads. Their names are stored in files, but not their numbers. A
// new one is added at the end, and Count follows it.
const (
	Unknown Language = iota
	Go
	Python
	JavaScript
	TypeScript
	Java
	Kotlin
	Rust
	Ruby
	PHP
	CSharp
	C
	CPP
	Swift
	Elixir
	Scala
	Shell
)

// Count is the length of the tables that have a row for each language.
const Count = int(Shell) + 1

// fileSigns are the signs by which a language is detected from a file.
type fileSigns struct {
	name         string   // the result of String
	exts         []string // file name extensions, lower case, with the dot
	files        []string // full file names
	interpreters []string // interpreters of a #! line, without version digits
}

// fileSignsOf are the signs of each language.
var fileSignsOf = [Count]fileSigns{
	Unknown: {name: "unknown"},
	Go:      {name: "go", exts: []string{".go"}},
	Python: {
		name: "python", exts: []string{".py", ".pyi", ".pyw"},
		files: []string{"SConstruct", "SConscript", "wscript"}, interpreters: []string{"python", "pypy"},
	},
	JavaScript: {
		name: "javascript", exts: []string{".js", ".jsx", ".mjs", ".cjs"},
		interpreters: framework.NodeInterpreters,
	},
	TypeScript: {
		name: "typescript", exts: []string{".ts", ".tsx", ".mts", ".cts"},
		interpreters: framework.TypeScriptInterpreters,
	},
	Java:   {name: "java", exts: []string{".java"}},
	Kotlin: {name: "kotlin", exts: []string{".kt", ".kts"}, interpreters: []string{"kotlin"}},
	Rust:   {name: "rust", exts: []string{".rs"}, interpreters: []string{"rust-script"}},
	Ruby: {
		name: "ruby", exts: []string{".rb", ".rake", ".gemspec", ".ru"},
		files: []string{"Rakefile", "Gemfile", "Guardfile", "Vagrantfile", "Podfile"}, interpreters: []string{"ruby", "jruby"},
	},
	PHP:    {name: "php", exts: []string{".php", ".phtml"}, interpreters: []string{"php"}},
	CSharp: {name: "csharp", exts: []string{".cs", ".csx"}},
	C:      {name: "c", exts: []string{".c", ".h"}},
	CPP:    {name: "cpp", exts: []string{".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".inl"}},
	Swift:  {name: "swift", exts: []string{".swift"}, interpreters: []string{"swift"}},
	Elixir: {name: "elixir", exts: []string{".ex", ".exs"}, interpreters: []string{"elixir"}},
	Scala:  {name: "scala", exts: []string{".scala", ".sc"}, interpreters: []string{"scala", "scala-cli"}},
	Shell: {
		name: "shell", exts: []string{".sh", ".bash", ".zsh", ".ksh", ".bats"},
		interpreters: []string{"sh", "bash", "zsh", "ksh", "dash", "ash", "bats"},
	},
}

// String returns the lower-case name of the language, "unknown" for Unknown.
func (l Language) String() string {
	if int(l) >= Count {
		return fmt.Sprintf("language(%d)", uint8(l))
	}
	return fileSignsOf[l].name
}

// MarshalText returns the same name as String; it never fails.
func (l Language) MarshalText() ([]byte, error) {
	return []byte(l.String()), nil
}

// UnmarshalText reads a name that MarshalText wrote. It returns an error for a
// name that is not a language of this version.
func (l *Language) UnmarshalText(text []byte) error {
	for i := range fileSignsOf {
		if fileSignsOf[i].name == string(text) {
			*l = Language(i)
			return nil
		}
	}
	return fmt.Errorf("read language %q: not a known name; use one of those String prints, such as %q", text, Go)
}

// Detect returns the language of a file from its slash-separated path or, if the path does not
// determine it, from the interpreter in its first line. head is the start of the file; 512
// bytes are enough, and nil is allowed. Documentation, data, lock files and binary content are
// Unknown.
func Detect(file string, head []byte) Language {
	if IsBinary(head) {
		return Unknown
	}
	base := path.Base(file)
	ext := strings.ToLower(path.Ext(base))
	if path.Ext(base) == ".C" {
		return CPP // by an old convention, upper case means C++
	}
	for lang := range fileSignsOf {
		d := &fileSignsOf[lang]
		if slices.Contains(d.exts, ext) || slices.Contains(d.files, base) {
			return refineLanguage(Language(lang), ext, head)
		}
	}
	if ext != "" && ext != base {
		return Unknown // another extension outweighs a #! line
	}
	return detectFromShebang(head)
}

// refineLanguage distinguishes two formats with the same extension.
func refineLanguage(lang Language, ext string, head []byte) Language {
	switch ext {
	case ".h":
		for _, mark := range []string{"namespace ", "class ", "template", "std::", "public:"} {
			if bytes.Contains(head, []byte(mark)) {
				return CPP
			}
		}
	case ".ts": // Qt uses the extension for translations, which are XML
		if bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) && bytes.Contains(head, []byte("<TS")) {
			return Unknown
		}
	}
	return lang
}

// detectFromShebang reads the interpreter of "#!/usr/bin/env -S python3 -u" and similar lines.
func detectFromShebang(head []byte) Language {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return Unknown
	}
	for _, field := range strings.Fields(string(rest)) {
		name := path.Base(field)
		if name == "env" || strings.HasPrefix(name, "-") || strings.Contains(name, "=") {
			continue
		}
		name = strings.TrimRight(name, "0123456789.")
		for lang := range fileSignsOf {
			if slices.Contains(fileSignsOf[lang].interpreters, name) {
				return Language(lang)
			}
		}
		return Unknown
	}
	return Unknown
}
