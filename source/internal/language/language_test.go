package language

import (
	"encoding/json"
	"testing"
)

func TestLanguageOf(t *testing.T) {
	tests := []struct {
		path, head string
		want       Language
	}{
		{"cmd/main.go", "", Go},
		{"a/b.PY", "", Python},
		{"x.pyi", "", Python},
		{"x.mjs", "", JavaScript},
		{"x.d.ts", "", TypeScript},
		{"x.tsx", "", TypeScript},
		{"i18n/de.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\">", Unknown},
		{"A.java", "", Java},
		{"build.gradle.kts", "", Kotlin},
		{"x.rs", "#![allow(dead_code)]", Rust},
		{"Rakefile", "", Ruby},
		{"x.php", "", PHP},
		{"x.cs", "", CSharp},
		{"x.h", "int f(void);", C},
		{"x.h", "namespace x {", CPP},
		{"x.C", "", CPP},
		{"x.c", "", C},
		{"x.swift", "", Swift},
		{"x.exs", "", Elixir},
		{"x.scala", "", Scala},
		{"test.bats", "", Shell},
		{"bin/tool", "#!/usr/bin/env python3\n", Python},
		{"bin/tool", "#!/usr/bin/env -S node --harmony\n", JavaScript},
		{"bin/tool", "#!/bin/sh -e\n", Shell},
		{"bin/tool", "#!/usr/bin/python3.12\n", Python},
		{"bin/tool", "#!/usr/bin/awk -f\n", Unknown},
		{"bin/tool", "", Unknown},
		{".bashrc", "#!/bin/bash\n", Shell},
		{"notes.txt", "#!/bin/sh\n", Unknown},
		{"README.md", "", Unknown},
		{"package.json", "", Unknown},
		{"a.yaml", "", Unknown},
		{"Cargo.lock", "", Unknown},
		{"Makefile", "all:\n", Unknown},
		{"movie.ts", "G\x00\x11", Unknown},
	}
	for _, tt := range tests {
		if got := Detect(tt.path, []byte(tt.head)); got != tt.want {
			t.Errorf("LanguageOf(%q, %q) = %v, want %v", tt.path, tt.head, got, tt.want)
		}
	}
}

func TestLanguageTextRoundTrip(t *testing.T) {
	for i := range Count {
		lang := Language(i)
		data, err := json.Marshal(lang)
		if err != nil {
			t.Fatal(err)
		}
		got := Language(200)
		if err := json.Unmarshal(data, &got); err != nil || got != lang {
			t.Errorf("%s came back as %v, %v", data, got, err)
		}
	}
	var l Language
	if err := l.UnmarshalText([]byte("cobol")); err == nil {
		t.Error("an unknown name was read without an error")
	}
	if got := Language(200).String(); got != "language(200)" {
		t.Errorf("String of no language = %q", got)
	}
}

func TestEachLanguageHasNameExtensionsAndTestFiles(t *testing.T) {
	for i := 1; i < Count; i++ {
		if fileSignsOf[i].name == "" || len(fileSignsOf[i].exts) == 0 || len(testConventions[i].suffixes) == 0 {
			t.Errorf("language %d, %v, has no name, extension or test files", i, Language(i))
		}
	}
}
