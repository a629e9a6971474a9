package source

import (
	"strings"
	"testing"
)

// maskCases give each source with what is masked in it written as '~', so that
// both can be compared by eye. A '~' represents one byte.
var maskCases = []struct {
	name      string
	lang      Language
	src, want string
}{
	{"go", Go, "a := \"x\\\"y\" // c\nb := `r\n\"` /* d\n */ + '\\''", "a := \"~~~~\" ~~~~\nb := `~\n~` ~~~~\n~~~ + '~~'"},
	{"go slash", Go, `a / b /* c */ / d`, `a / b ~~~~~~~ / d`},
	{"go rune quote", Go, `x == '"' || y`, `x == '~' || y`},
	{"unterminated go string", Go, "a := \"x\nb()", "a := \"~\nb()"},

	{"python triple", Python, "x = '''a\n#b''' # c", "x = '''~\n~~''' ~~~"},
	{"python docstring", Python, "def f():\n    \"\"\"Doc if.\"\"\"\n    x", "def f():\n    ~~~~~~~~~~~~~\n    x"},
	{"python prefixed docstring", Python, "r\"\"\"a\"\"\"\nx", "~~~~~~~~\nx"},
	{"python argument is no docstring", Python, "f(\n  'a',\n)", "f(\n  '~',\n)"},
	{"python continued string", Python, "x = \\\n  'a'", "x = \\\n  '~'"},
	{"python f-string", Python, `x = f"a{b if c else 'd'}e{{f}}"`, `x = f"~{b if c else '~'}~~~~~~"`},
	{"python f-string same quotes", Python, `x = f"{d["k"]}" # c`, `x = f"{d["~"]}" ~~~`},
	{"python nested format", Python, `x = f"{a:>{w}}b"`, `x = f"{a:>{w}}~"`},
	{"python stray quote in f-string", Python, "x = f\"{a:'>9}\"\ny = 1", "x = f\"{a:'~~~~\ny = 1"},
	{"python raw", Python, `x = r"a\" + "b"`, `x = r"~~~~~~"b"`},
	{"python bytes and name", Python, `x = rb'a' + bar`, `x = rb'~' + bar`},

	{"js strings", JavaScript, "a('b\\'c', \"d\") // e", "a('~~~~', \"~\") ~~~~"},
	{"js template", JavaScript, "x = `a${b ? `c${d}` : {e: 1}}f`;", "x = `~${b ? `~${d}` : {e: 1}}~`;"},
	{"js template dollar", JavaScript, "x = `$a$ {b} \\${c}`", "x = `~~~~~~~~~~~~~`"},
	{"js regex", JavaScript, `x = /a["'/]\/b/g.test(y)`, `x = /~~~~~~~~~/g.test(y)`},
	{"js division", JavaScript, `x = a / b / c; y = (d) / 2 / e`, `x = a / b / c; y = (d) / 2 / e`},
	{"js regex after return", JavaScript, `return /'/.test(s)`, `return /~/.test(s)`},
	{"js regex after block", JavaScript, "}\n/'/.test(s)", "}\n/~/.test(s)"},
	{"js regex as argument", JavaScript, `s.replace(/"/g, '')`, `s.replace(/~/g, '')`},
	{"js division of word", JavaScript, `x.return1 / "a" / 2`, `x.return1 / "~" / 2`},
	{"jsx", JavaScript, `return <div a="b/c">x<br/></div>`, `return <div a="~~~">x<br/></div>`},
	{"jsx apostrophe ends with the line", JavaScript, "<p>don't</p>\nif (a) {}", "<p>don'~~~~~\nif (a) {}"},
	{"js hashbang", JavaScript, "#!/usr/bin/node it's\nx", "~~~~~~~~~~~~~~~~~~~~\nx"},
	{"ts", TypeScript, "type A = 'b' | \"c\" /* d */", "type A = '~' | \"~\" ~~~~~~~"},

	{"java text block", Java, "x = \"\"\"\n a \"b\" \\\"\"\"\n \"\"\"; // c", "x = \"\"\"\n~~~~~~~~~~~\n~\"\"\"; ~~~~"},
	{"java char", Java, `c = '"'; d = '\'';`, `c = '~'; d = '~~';`},
	{"kotlin nested comment", Kotlin, `a /* b /* c */ d */ e`, `a ~~~~~~~~~~~~~~~~~ e`},
	{"java comments do not nest", Java, `a /* b /* c */ d`, `a ~~~~~~~~~~~~ d`},
	{"kotlin raw", Kotlin, "\"\"\"a\\\"\"\"\" + \"b${c(\"d\")}\"", "\"\"\"~~~\"\"\" + \"~${c(\"~\")}\""},
	{"rust lifetime", Rust, `fn f<'a>(x: &'a str) -> char { 'b' }`, `fn f<'a>(x: &'a str) -> char { '~' }`},
	{"rust chars", Rust, `['"', '\'', b'/', '\u{7f}', 'ä']`, `['~', '~~', b'~', '~~~~~~', '~~']`},
	{"rust raw", Rust, `r#"a"b"# + r"\" + br##"c"#d"##`, `r#"~~~"# + r"~" + br##"~~~~"##`},
	{"rust raw identifier", Rust, `r#type("a")`, `r#type("~")`},
	{"rust nested comment", Rust, "/* a /* \" */ */ b", "~~~~~~~~~~~~~~~ b"},
	{"rust inner attribute", Rust, "#![allow(x)]\ny", "#![allow(x)]\ny"},
	{"rust long string", Rust, "\"a\n if\" b", "\"~\n~~~\" b"},

	{"ruby interpolation", Ruby, `puts "a#{b ? "c" : 'd'}e" # f`, `puts "~#{b ? "~" : '~'}~" ~~~`},
	{"ruby heredoc", Ruby, "a(<<~X, 'b')\n  if #{c}\n  'd\n  X\nif e", "a(<<~X, '~')\n~~~~~#{c}\n~~~~\n  X\nif e"},
	{"ruby raw heredoc", Ruby, "a <<-'X'\n#{if}\n  X\nb", "a <<-'X'\n~~~~~\n  X\nb"},
	{"ruby two heredocs", Ruby, "f(<<A, <<B)\na\nA\nb\nB\nc", "f(<<A, <<B)\n~\nA\n~\nB\nc"},
	{"ruby append", Ruby, "list << ITEM\nITEM\n", "list << ITEM\nITEM\n"},
	{"ruby append without heredoc", Ruby, "x = a <<FOO\nb 'c'", "x = a <<FOO\nb '~'"},
	{"ruby percent", Ruby, `%w[a b] + %q(c(d)e) + %{f#{g}}`, `%w[~~~] + %q(~~~~~) + %{~#{g}}`},
	{"ruby modulo", Ruby, `a % b; "x" % [c]; d %2`, `a % b; "~" % [c]; d %2`},
	{"ruby regex", Ruby, `x =~ /a'b/ && y / 2; puts /"/`, `x =~ /~~~/ && y / 2; puts /~/`},
	{"ruby block comment", Ruby, "=begin\nit's\n=end\na", "~~~~~~\n~~~~\n~~~~\na"},
	{"ruby data", Ruby, "a\n__END__\nit's", "a\n__END__\n~~~~"},
	{"ruby character", Ruby, `x = ?" + y; z.nil? ? "a" : b`, `x = ?~ + y; z.nil? ? "~" : b`},

	{"php", PHP, "<p>it's</p>\n<?php # a\n$b = 'c'; // d ?> if\n", "~~~~~~~~~~~\n<?php ~~~\n$b = '~'; ~~~~~?>~~~\n"},
	{"php attribute", PHP, "<?php\n#[Test]\n#a", "<?php\n#[Test]\n~~"},
	{"php heredoc", PHP, "<?php $x = f(<<<SQL\n if 'a\n SQL, 'b');", "<?php $x = f(<<<SQL\n~~~~~~\n SQL, '~');"},
	{"php nowdoc", PHP, "<?php $x = <<<'E'\n{$a\nE;\n$b", "<?php $x = <<<'E'\n~~~\nE;\n$b"},
	{"php interpolation", PHP, `<?php "a{$b["c"]}d"`, `<?php "~{$b["~"]}~"`},

	{"c# verbatim", CSharp, `x = @"a\" + @"b""c";`, `x = @"~~" + @"~~~~";`},
	{"c# interpolated", CSharp, `x = $"a{b ?? "c"}{{d}}";`, `x = $"~{b ?? "~"}~~~~~";`},
	{"c# raw", CSharp, `x = """a "b" c""" + $$"""d {e} {{f}}""";`, `x = """~~~~~~~""" + $$"""~~~~~~{{f}}""";`},
	{"c# empty", CSharp, `x = ""; y = "a";`, `x = ""; y = "~";`},
	{"c char", C, `if (c == '"' || c == '\\') s = "//";`, `if (c == '~' || c == '~~') s = "~~";`},
	{"c continued comment", C, "// a \\\nb\nc", "~~~~~~\n~\nc"},
	{"c continued string", C, "\"a\\\nb\" c", "\"~~\n~\" c"},
	{"c++ raw", CPP, `R"x(a)" // b)x" + LR"(c)"`, `R"x(~~~~~~~~)x" + LR"(~)"`},
	{"c++ digits", CPP, `1'000'000 + 'a'`, `1'000'000 + '~'`},
	{"swift", Swift, `"a\(b ? "c" : d)e" /* f /* g */ */`, `"~\(b ? "~" : d)~" ~~~~~~~~~~~~~~~`},
	{"swift raw", Swift, `#"a\(b)"c\#(d)"# + e`, `#"~~~~~~~\#(d)"# + e`},
	{"swift long", Swift, "\"\"\"\n if \"a\"\n\"\"\" b", "\"\"\"\n~~~~~~~\n\"\"\" b"},
	{"elixir sigils", Elixir, `~r/a"b/ =~ x and ~S(c#{d}) # e`, `~r/~~~/ =~ x and ~S(~~~~~) ~~~`},
	{"elixir heredoc", Elixir, "@doc \"\"\"\nif #{a}\n\"\"\"\nb", "@doc \"\"\"\n~~~#{a}\n\"\"\"\nb"},
	{"elixir character", Elixir, `x == ?" or empty?("a")`, `x == ?~ or empty?("~")`},
	{"scala interpolated", Scala, `s"a${b}" + "c${" + 'd' + 'sym`, `s"~${b}" + "~~~" + '~' + 'sym`},
	{"scala raw", Scala, `"""a"b"""" + c`, `"""~~~~"""` + ` + c`},

	{"shell quotes", Shell, `echo "a $(b "c") d" 'e' # f`, `echo "~~$(b "~")~~" '~' ~~~`},
	{"shell hash", Shell, `echo ${#x} $# a#b #c`, `echo ${#x} $# a#b ~~`},
	{"shell heredoc", Shell, "cat <<EOF | x\nif $(a)\nit's\nEOF\nfi", "cat <<EOF | x\n~~~$(a)\n~~~~\nEOF\nfi"},
	{"shell raw heredoc", Shell, "cat <<-'E'\n\t$(a\n\tE\nfi", "cat <<-'E'\n~~~~\n\tE\nfi"},
	{"shell shift", Shell, "x=$((1 << y))\necho 'a'", "x=$((1 << y))\necho '~'"},
	{"shell here-string", Shell, `cat <<<"a" && b`, `cat <<<"~" && b`},
	{"shell escape", Shell, `echo \" a \' 'b'`, `echo \~ a \~ '~'`},

	{"carriage returns stay", Go, "// a\r\nb `c\r\nd`", "~~~~\r\nb `~\r\n~`"},
	{"unknown", Unknown, "// a 'b'", "// a 'b'"},
	{"empty", Ruby, "", ""},
}

func TestMask(t *testing.T) {
	for _, tt := range maskCases {
		t.Run(tt.name, func(t *testing.T) {
			got := string(Mask(tt.lang, []byte(tt.src)))
			if want := blank(tt.src, tt.want); got != want {
				t.Errorf("Mask(%v)\nsrc  %q\ngot  %q\nwant %q", tt.lang, tt.src, got, want)
			}
		})
	}
}

// blank replaces the marks of a wanted result by spaces, except where the
// source itself has them.
func blank(src, want string) string {
	out := []byte(want)
	for i := range out {
		if out[i] == '~' && (i >= len(src) || src[i] != '~') {
			out[i] = ' '
		}
	}
	return string(out)
}

// FuzzMask: a mask is as long as its source, keeps its line breaks, and takes
// away but never changes.
func FuzzMask(f *testing.F) {
	for _, s := range []string{
		"`${`${`", "f\"{\"", "<<~A\nA", "r#\"", "<?php <<<X\nX", "~s(((", "$$\"\"\"{{", "/* /* */", "%w[", "R\"x(", "\\", "#\"\\#(", "?\\", "'\\",
	} {
		for lang := range len(extensions) {
			f.Add(uint8(lang), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, lang uint8, src []byte) {
		masked := Mask(Language(lang), src)
		if len(masked) != len(src) {
			t.Fatalf("%d bytes became %d", len(src), len(masked))
		}
		for i := range src {
			if masked[i] != src[i] && (masked[i] != ' ' || src[i] == '\n' || src[i] == '\r') {
				t.Fatalf("byte %d: %q became %q", i, src[i], masked[i])
			}
		}
	})
}

// benchmarkSource is a few functions of the usual mixture of code, comments and
// strings, repeated.
var benchmarkSource = map[Language]string{
	Go:         "// add returns\n// the sum.\nfunc add(a, b int) int {\n\tif a > 1 && b != 2 { // yes\n\t\treturn f(\"a string\", 'x')\n\t}\n\treturn a + b\n}\n\n",
	JavaScript: "// add returns\nfunction add(a, b) {\n  if (a > 1 && b !== 2) {\n    return `a ${a ? 'b' : \"c\"}`;\n  }\n  return x.replace(/a/g, '') / 2;\n}\n\n",
	Python:     "def add(a, b):\n    \"\"\"Return the sum.\"\"\"\n    if a > 1 and b != 2:  # yes\n        return f\"a {a}\"\n    return [x for x in b if 'c' in x]\n\n",
	Ruby:       "# add returns\ndef add(a, b)\n  return \"a #{b}\" if a > 1 && b =~ /x/\n  list << b\n  %w[a b].each { |x| puts x }\nend\n\n",
}

func BenchmarkMask(b *testing.B) {
	for lang, text := range benchmarkSource {
		b.Run(lang.String(), func(b *testing.B) {
			src := []byte(strings.Repeat(text, 1<<20/len(text)))
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Mask(lang, src)
			}
		})
	}
}
