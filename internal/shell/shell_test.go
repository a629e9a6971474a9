package shell

import (
	"os/exec"
	"strings"
	"testing"
)

// shown writes commands with "|" around words and the operators between them: $ marks words
// that the shell expands, ! those that run a command, * patterns, > redirections.
func shown(list []Command) string {
	var b strings.Builder
	for _, c := range list {
		if c.Group {
			b.WriteString("()")
		}
		b.WriteString("[")
		for i, w := range c.Words {
			if i > 0 {
				b.WriteString(" ")
			}
			for _, mark := range []struct {
				on   bool
				text string
			}{{w.Expands, "$"}, {w.Runs, "!"}, {w.Pattern, "*"}, {w.Redirect, ">"}} {
				if mark.on {
					b.WriteString(mark.text)
				}
			}
			b.WriteString("<" + w.Text + ">")
		}
		b.WriteString("]" + strings.ReplaceAll(c.Op, "\n", `\n`))
	}
	return b.String()
}

func TestCommands(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		// Words.
		{`go test ./...`, `[<go> <test> <./...>]`},
		{`a 'b c' "d e"f'g' '' \"h\ i`, `[<a> <b c> <d efg> <> <"h i>]`},
		{`a "b \"c\" \\ \d $e" 'f\'`, `[<a> $<b "c" \ \d $e> <f\>]`},
		{`a$b ${c:-d} "$(e f)" $(g | h) $((1 + 2)) <(i)`, `[$<a$b> $<${c:-d}> $!<$(e f)> $!<$(g | h)> $!<$((1 + 2))> $!<<(i)>]`},
		{"a `b c` \"`d`\"", "[<a> $!<`b c`> $!<`d`>]"},
		{`a *.go '*.go' "b"? [cd] \*`, `[<a> *<*.go> <*.go> *<b?> *<[cd]> <*>]`},
		{`a {b,c} {d} {1..3} {} !(e|f)`, `[<a> *<{b,c}> <{d}> *<{1..3}> <{}> *<!(e|f)>]`},
		{"a \\\n  b\\\nc", `[<a> <bc>]`},
		{`a#b # c`, `[<a#b>]`},
		{"a 'b\nc'", "[<a> <b\nc>]"},
		{`A=1 B="c d" make`, `[<A=1> <B=c d> <make>]`},
		// Operators.
		{`a && b || c; d | e & f`, `[<a>]&&[<b>]||[<c>];[<d>]|[<e>]&[<f>]`},
		{`a&&b||c;d|e&`, `[<a>]&&[<b>]||[<c>];[<d>]|[<e>]&`},
		{"a\nb\r\n\n;; c |& d", `[<a>]\n[<b>]\n[<c>]|[<d>]`},
		{`a "&&" ';' \| b`, `[<a> <&&> <;> <|> <b>]`},
		{`(a; b) && c`, `()[<a>];()[<b>]&&[<c>]`},
		{`{ a; b; }; ! c`, `[<{> <a>];[<b>];[<}>];[<!> <c>]`},
		{`if a; then b; else c; fi`, `[<if> <a>];[<then> <b>];[<else> <c>];[<fi>]`},
		{`for f in *.go; do a $f; done`, `[<for> <f> <in> *<*.go>];[<do> <a> $<$f>];[<done>]`},
		{`f() { a; }`, `()[<f> <{> <a>];[<}>]`},
		// Redirections.
		{`a >b 2>&1 < c >> "d e" &>f`, `[<a> ><>b> ><2>&1> ><<> <c> ><>>> <d e> ><&>f>]`},
		{`a 2>/dev/null || true`, `[<a> ><2>/dev/null>]||[<true>]`},
		{"cat <<EOF > a\nb; c\nEOF\nd", `[<cat> ><<<EOF> ><>> <a>]\n[<d>]`},
		{"cat << 'E F'\nb\nE F\nd", `[<cat> ><<<> <E F>]\n[<d>]`},
		{"cat <<EOF\nb", `[<cat> ><<<EOF>]\n[<b>]`},
		{`a <<< "b c"`, `[<a> ><<<<> <b c>]`},
		// Commands whose output a variable is set to.
		{`OUT=$(go test ./... | tee a) || true`, `[<go> <test> <./...>]|[<tee> <a>]||[<true>]`},
		{`if ! OUT="$(pytest -x)"; then`, `[<if> <!> <pytest> <-x>];[<then>]`},
		{"OUT=`pytest`", `[<pytest>]`},
		{`X=$(MAKE)`, `[$!<X=$(MAKE)>]`},
		{`sh -c "a && b"`, `[<sh> <-c> <a && b>]`},
		// What is no shell, or not all of it.
		{`$(GO) test $(FLAGS)`, `[$!<$(GO)> <test> $!<$(FLAGS)>]`},
		{`$(info it's a, b) ; c`, `()[$<$> <info> <its a, b) ; c>]`},
		{`@(cd a && make)`, `()[<@> <cd> <a>]&&()[<make>]`},
		{`-@go vet $$(go list)`, `()[<-@go> <vet> $<$$> <go> <list>]`},
		{`{{ tox }} -e {posargs:a}`, `[<{{> <tox> <}}> <-e> <{posargs:a}>]`},
		{`cargo test ${{ matrix.flags }} -q`, `[<cargo> <test> $<${{> <matrix.flags> <}}> <-q>]`},
		{`echo it's && pytest`, `[<echo> <its && pytest>]`},
		{"a \"b\nc", "[<a> <b>]\\n[<c>]"},
		{`a ${b`, `[<a> $<${b>]`},
		{`C:\\tools\\a.exe b\c`, `[<C:\tools\a.exe> <bc>]`},
		{`a )b( c`, `()[<a> <b> <c>]`},
		{``, ``},
		{` ; && | `, ``},
		{"a\xff b", "[<a\xff> <b>]"},
	} {
		if got := shown(Commands(tt.line)); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

// A shell passes a simple command the words that Simple finds.
func TestSimple(t *testing.T) {
	for line, ok := range map[string]bool{
		`printf '%s|' a  b`: true, `A=1 printf "%s|" 'a b' "c"'d'e\ f`: true, `printf '%s|' "it's;&" a#b ''`: true, `printf '%s|' "\$\"\\" '\'`: true,
		`a; b`: false, `a && b`: false, `a | b`: false, `a >b`: false, "a\nb": false, `a &`: false, `(a)`: false, `a # b`: false, `a $(b)`: false,
		`a "$(b)"`: false, "a `b`": false, `a 'b`: false, `a\`: false, `if a`: false, `! a`: false, ``: false, `a $((1+1))`: false, `A=$(b)`: false,
	} {
		words, got := SimpleWords(line)
		if got != ok {
			t.Errorf("%s: simple is %v", line, got)
		}
		if !ok {
			continue
		}
		for len(words) > 0 && IsAssignment(words[0].Text) {
			words = words[1:]
		}
		want, err := exec.Command("/bin/sh", "-c", line).Output()
		if all := strings.Join((Command{Words: words}).Texts()[2:], "|") + "|"; err != nil || all != string(want) {
			t.Errorf("%s: %q, but the shell passes %q, %v", line, all, want, err)
		}
	}
}

func TestPlain(t *testing.T) {
	var got []string
	for _, words := range SplitUnknown("if (Test-Path 'x') { rm -r \"a b\" }\n`ls`") {
		got = append(got, strings.Join(words, " "))
	}
	if all := strings.Join(got, "|"); all != "if|Test-Path x||rm -r a b|ls" {
		t.Error(all)
	}
}

func FuzzCommands(f *testing.F) {
	for _, line := range []string{"a 'b' \"c $d\" && (e | f) >g 2>&1 # h\n", "cat <<EOF\na\nEOF", "A=$(B=$(c))", "@(a|b) ${{ x }} `", strings.Repeat("$(", 99), strings.Repeat("A=$(", 99) + "a" + strings.Repeat(")", 99)} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, c := range Commands(line) {
			if len(c.Words) == 0 {
				t.Error("a command without words")
			}
		}
		at := 0
		if words, ok := SimpleWords(line); ok {
			for _, w := range words {
				if w.Start < at || w.End <= w.Start || w.End > len(line) {
					t.Errorf("%+v after %d", w, at)
				}
				at = w.End
			}
		}
	})
}

func BenchmarkCommands(b *testing.B) {
	line := strings.Repeat("if go test -run 'TestA|TestB' ./... 2>&1 | tee \"$OUT/log\"; then echo ok; fi\n", 100)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Commands(line)
	}
}
