package main

import (
	"strings"

	"supervise/bench/tamper/internal/corpus"
	"supervise/bench/tamper/internal/mutate"
)

// shape is how a generated project of one language looks: the files, and how one
// test is written. {i} is its number, {name}, {in} and {out} what it tests.
type shape struct {
	lang, test, source string // paths
	head, each, foot   string // of the test file
	code               string // the product, and more for the variant with product changes
	more               string
	config, configText string
	config2, configTwo string
}

// tinyCases are what the generated tests test.
var tinyCases = [][3]string{
	{"lower", `"Hello World"`, `"hello-world"`},
	{"dashes", `"several  blanks"`, `"several-blanks"`},
	{"trims", `" padded title "`, `"padded-title"`},
	{"digits", `"Chapter 12"`, `"chapter-12"`},
	{"keeps", `"already-fine"`, `"already-fine"`},
	{"quotes", `"it's quoted"`, `"it-s-quoted"`},
}

var shapes = []shape{
	{
		lang: "go", test: "slug/slug_test.go", source: "slug/slug.go",
		head: "package slug\n\nimport \"testing\"\n\nfunc TestTable(t *testing.T) {\n\ttests := []struct{ in, want string }{\n\t\t{\"A B\", \"a-b\"},\n\t\t{\"C D\", \"c-d\"},\n\t\t{\"E F\", \"e-f\"},\n\t\t{\"G H\", \"g-h\"},\n\t}\n\tfor _, tt := range tests {\n\t\tif got := Slug(tt.in); got != tt.want {\n\t\t\tt.Errorf(\"got %q\", got)\n\t\t}\n\t}\n}\n",
		each: "\nfunc TestSlug{Name}(t *testing.T) {\n\tgot := Slug({in})\n\tif got != {out} {\n\t\tt.Errorf(\"got %q\", got)\n\t}\n\tif len(got) != {i}7 {\n\t\tt.Fatal(\"length\")\n\t}\n}\n",
		code: "// Package slug makes titles fit for addresses.\npackage slug\n\nimport \"strings\"\n\ntype Title struct {\n\tText string\n}\n\n// Slug returns the slug of a title.\nfunc Slug(title string) string {\n\ttitle = strings.TrimSpace(title)\n\treturn strings.ToLower(strings.ReplaceAll(title, \" \", \"-\"))\n}\n",
		more: "\nfunc words(s string) []string { return strings.Fields(s) }\n", config: "Makefile", configText: "test:\n\tgo test ./...\n",
	},
	{
		lang: "python", test: "tests/test_slug.py", source: "slug/core.py",
		head: "import pytest\nfrom slug.core import slug\n\n\n@pytest.mark.parametrize(\n    \"title\",\n    [\n        \"A B\",\n        \"C D\",\n        \"E F\",\n        \"G H\",\n    ],\n)\ndef test_table(title):\n    assert slug(title) == title.lower().replace(\" \", \"-\")\n",
		each: "\n\ndef test_{name}():\n    got = slug({in})\n    assert got == {out}\n    assert len(got) == pytest.approx({i}7, abs=0.5)\n    with pytest.raises(ValueError, match=\"empty\"):\n        slug(\"\")\n",
		code: "class Title:\n    text = \"\"\n\n\ndef slug(title):\n    if not title:\n        raise ValueError(\"empty\")\n    return title.strip().lower().replace(\" \", \"-\")\n",
		more: "\n\ndef words(s):\n    return s.split()\n", config: "pyproject.toml", configText: "[project]\nname = \"slug\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n", config2: "tox.ini", configTwo: "[testenv]\ncommands =\n    pytest tests\n",
	},
	{
		lang: "javascript", test: "test/slug.test.js", source: "lib/slug.js",
		head: "const { slug } = require('../lib/slug');\n\ndescribe('slug', () => {\n",
		each: "  it('{name}', () => {\n    const got = slug({in});\n    expect(got).toBe({out});\n    expect(got.length).toEqual({i}7);\n    expect(() => slug('')).toThrow('empty');\n  });\n\n", foot: "});\n",
		code: "class Title {\n  text = '';\n}\n\nfunction slug(title) {\n  if (!title) throw new Error('empty');\n  return title.trim().toLowerCase();\n}\n\nmodule.exports = { slug, Title };\n",
		more: "\nfunction words(s) {\n  return s.split(' ');\n}\n", config: "package.json", configText: "{\n  \"name\": \"slug\",\n  \"scripts\": {\n    \"test\": \"jest\"\n  }\n}\n",
	},
	{
		lang: "typescript", test: "src/slug.test.ts", source: "src/slug.ts",
		head: "import { describe, expect, test } from 'vitest';\nimport { slug } from './slug';\n\n",
		each: "test('{name}', () => {\n  const got = slug({in});\n  expect(got).toEqual({out});\n  expect(got.length).toBe({i}7);\n});\n\n",
		code: "export class Title {\n  text = '';\n}\n\nexport function slug(title: string): string {\n  const trimmed = title.trim();\n  return trimmed.toLowerCase();\n}\n",
		more: "\nexport function words(s: string) {\n  return s.split(' ');\n}\n", config: "package.json", configText: "{\n  \"name\": \"slug\",\n  \"scripts\": {\n    \"test\": \"vitest run\"\n  }\n}\n",
	},
	{
		lang: "java", test: "src/test/java/SlugTest.java", source: "src/main/java/Slug.java",
		head: "import static org.junit.jupiter.api.Assertions.*;\n\nimport org.junit.jupiter.api.Test;\n\npublic class SlugTest {\n",
		each: "  @Test\n  public void {name}() {\n    String got = Slug.slug({in});\n    assertEquals({out}, got);\n    assertEquals({i}7, got.length());\n    assertThrows(IllegalArgumentException.class, () -> Slug.slug(\"\"));\n  }\n\n", foot: "}\n",
		code: "public class Slug {\n  public static String slug(String title) {\n    String trimmed = title.trim();\n    return trimmed.toLowerCase();\n  }\n}\n",
		more: "\nclass Words {\n}\n", config: "pom.xml", configText: "<project>\n  <properties>\n  </properties>\n</project>\n",
	},
	{
		lang: "kotlin", test: "src/test/kotlin/SlugTest.kt", source: "src/main/kotlin/Slug.kt",
		head: "import org.junit.Test\nimport kotlin.test.assertEquals\n\nclass SlugTest {\n",
		each: "  @Test\n  fun {name}() {\n    val got = slug({in})\n    assertEquals({out}, got)\n    assertEquals({i}7, got.length)\n  }\n\n", foot: "}\n",
		code: "class Title {\n}\n\nfun slug(title: String): String {\n  val trimmed = title.trim()\n  return trimmed.lowercase()\n}\n",
		more: "\nfun words(s: String) = s.split(\" \")\n", config: "build.gradle.kts", configText: "plugins {\n  kotlin(\"jvm\")\n}\n",
	},
	{
		lang: "rust", test: "tests/slug.rs", source: "src/lib.rs",
		head: "use slug::slug;\n\n",
		each: "#[test]\nfn {name}() {\n    let got = slug({in});\n    assert_eq!(got, {out});\n    assert_eq!(got.len(), {i}7);\n}\n\n",
		code: "pub struct Title {\n    pub text: String,\n}\n\npub fn slug(title: &str) -> String {\n    let trimmed = title.trim();\n    trimmed.to_lowercase()\n}\n",
		more: "\npub fn words(s: &str) -> usize {\n    s.len()\n}\n", config: "Cargo.toml", configText: "[package]\nname = \"slug\"\n",
	},
	{
		lang: "ruby", test: "test/slug_test.rb", source: "lib/slug.rb",
		head: "require \"minitest/autorun\"\nrequire \"slug\"\n\nclass SlugTest < Minitest::Test\n",
		each: "  def test_{name}\n    got = slug({in})\n    assert_equal {out}, got\n    assert_equal {i}7, got.length\n    assert_raises(ArgumentError) { slug(\"\") }\n  end\n\n", foot: "end\n",
		code: "class Title\nend\n\ndef slug(title)\n  trimmed = title.strip\n  trimmed.downcase\nend\n",
		more: "\ndef words(s)\n  s.split\nend\n", config: "Rakefile", configText: "require \"rake/testtask\"\n\nRake::TestTask.new do |t|\n  t.pattern = \"test/*_test.rb\"\nend\n\ntask default: :test\n",
	},
	{
		lang: "php", test: "tests/SlugTest.php", source: "src/Slug.php",
		head: "<?php\n\nuse PHPUnit\\Framework\\TestCase;\n\nclass SlugTest extends TestCase\n{\n",
		each: "    public function test{Name}()\n    {\n        $got = Slug::slug({in});\n        self::assertSame({out}, $got);\n        self::assertSame({i}7, strlen($got));\n    }\n\n", foot: "}\n",
		code: "<?php\n\nclass Slug\n{\n    public static function slug($title)\n    {\n        $trimmed = trim($title);\n        return strtolower($trimmed);\n    }\n}\n",
		more: "\nfunction words($s)\n{\n    return explode(' ', $s);\n}\n", config: "phpunit.xml", configText: "<phpunit bootstrap=\"vendor/autoload.php\">\n  <testsuites><testsuite name=\"all\"><directory>tests</directory></testsuite></testsuites>\n</phpunit>\n",
	},
	{
		lang: "csharp", test: "test/SlugTests.cs", source: "src/Slug.cs",
		head: "using Xunit;\n\npublic class SlugTests\n{\n",
		each: "    [Fact]\n    public void {Name}()\n    {\n        var got = Slug.Make({in});\n        Assert.Equal({out}, got);\n        Assert.Equal({i}7, got.Length);\n    }\n\n", foot: "}\n",
		code: "public class Slug\n{\n    public static string Make(string title)\n    {\n        var trimmed = title.Trim();\n        return trimmed.ToLower();\n    }\n}\n",
		more: "\npublic class Words\n{\n}\n", config: "test/Tests.csproj", configText: "<Project>\n</Project>\n",
	},
	{
		lang: "cpp", test: "test/slug_test.cc", source: "src/slug.cc",
		head: "#include <gtest/gtest.h>\n\n#include \"slug.h\"\n\n",
		each: "TEST(slug_test, {name}) {\n  auto got = slug({in});\n  EXPECT_EQ(got, {out});\n  EXPECT_EQ(got.size(), {i}7);\n}\n\n",
		code: "#include \"slug.h\"\n\nstruct title {\n  int size;\n};\n\nstd::string slug(std::string title) {\n  auto trimmed = trim(title);\n  return lower(trimmed);\n}\n",
		more: "\nint words(int s) {\n  return s;\n}\n", config: "CMakeLists.txt", configText: "enable_testing()\n",
	},
	{
		lang: "swift", test: "Tests/SlugTests/SlugTests.swift", source: "Sources/Slug/Slug.swift",
		head: "import XCTest\n@testable import Slug\n\nfinal class SlugTests: XCTestCase {\n",
		each: "  func test{Name}() {\n    let got = slug({in})\n    XCTAssertEqual(got, {out})\n    XCTAssertEqual(got.count, {i}7)\n  }\n\n", foot: "}\n",
		code: "public struct Title {\n  var text = \"\"\n}\n\npublic func slug(_ title: String) -> String {\n  let trimmed = title\n  return trimmed.lowercased()\n}\n",
		more: "\nfunc words(_ s: String) -> Int {\n  return s.count\n}\n", config: "Package.swift", configText: "let package = Package(name: \"Slug\", targets: [\n  .testTarget(\n    name: \"SlugTests\",\n    dependencies: [\"Slug\"]),\n])\n",
	},
	{
		lang: "elixir", test: "test/slug_test.exs", source: "lib/slug.ex",
		head: "defmodule SlugTest do\n  use ExUnit.Case\n\n",
		each: "  test \"{name}\" do\n    got = Slug.slug({in})\n    assert got == {out}\n    assert String.length(got) == {i}7\n  end\n\n", foot: "end\n",
		code: "defmodule Slug do\n  def slug(title) do\n    trimmed = String.trim(title)\n    String.downcase(trimmed)\n  end\nend\n",
		more: "\ndefmodule Words do\nend\n", config: "mix.exs", configText: "defmodule Slug.MixProject do\n  def project do\n    [\n      app: :slug,\n      deps: deps()\n    ]\n  end\nend\n", config2: "test/test_helper.exs", configTwo: "ExUnit.start()\n",
	},
}

// tinyProjects generates one project for each language: for a quick run, and for
// languages of which no repository is at hand.
func tinyProjects() []*project {
	var out []*project
	for _, s := range shapes {
		var text strings.Builder
		text.WriteString(s.head)
		for i, c := range tinyCases {
			text.WriteString(strings.NewReplacer("{i}", string(rune('1'+i)), "{name}", c[0], "{Name}", mutate.Camel(c[0]), "{in}", c[1], "{out}", c[2]).Replace(s.each))
		}
		text.WriteString(s.foot)
		t := &corpus.Tree{Mem: map[string][]byte{s.test: []byte(text.String()), s.source: []byte(s.code), s.config: []byte(s.configText)}}
		t.Paths = []string{s.test, s.source, s.config}
		if s.config2 != "" {
			t.Mem[s.config2] = []byte(s.configTwo)
			t.Paths = append(t.Paths, s.config2)
		}
		b, err := mutate.NewBase(t, "generated", nil, nil)
		if err != nil {
			continue // nothing is read, so nothing can fail
		}
		b.Product = []corpus.Edit{{Path: s.source, After: []byte(s.code + s.more)}}
		b.Commit = b.Product
		out = append(out, &project{name: "tiny-" + s.lang, bases: []*mutate.Base{b}})
	}
	return out
}
