package source

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fn is a function as the tables below write it.
type fn struct {
	Name       string
	Line, End  int
	Complexity int
}

// TestScan compares with lines and complexities counted by hand; the numbers
// behind a comment sign in the sources are the decision points of that line.
func TestScan(t *testing.T) {
	tests := []struct {
		name, path, src string
		loc             int
		want            []fn
	}{
		{
			name: "go", path: "a.go", loc: 24, src: `// Package a is
package a

/*
 doc
*/
var check = func(x int) bool { return x > 0 && x < 9 } // 1

func (s *Set[T]) Add(v T) (n int, err error) {
	if v == nil || s == nil { // 2
		return
	}
	for i := range 3 { // 1
		switch {
		case i == 1: // 1
		default:
		}
	}
	select {
	case <-s.c: // 1
	default:
	}
	go func() {
		for { // 1
		}
	}()
	return
}

func plain() {}

func extern(a int)
`,
			want: []fn{{"check", 7, 7, 2}, {"Set.Add", 9, 28, 7}, {"plain", 30, 30, 1}},
		},
		{
			name: "go that does not parse", path: "a.go", loc: 7, src: `package a
func (s *Set) Add(v int) {
	if v == 0 && s != nil { // 2
	}
}
func next() { return 1 + }
func (`,
			want: []fn{{"Set.Add", 2, 5, 3}, {"next", 6, 6, 1}},
		},
		{
			name: "python", path: "a.py", loc: 27, src: `#!/usr/bin/env python
"""Module docs.

if this were code
"""
import os

class A:
    '''Doc'''
    async def f(self, x,
                y=None,
    ) -> int:
        """Doc."""
        if x and y or not x:  # 3
            return 1
        elif x:  # 1
            z = """
not the end of f if
"""
        for a in [b for b in x if b]:  # 3
            while True:  # 1
                pass
        try:
            pass
        except (OSError, ValueError):  # 1
            pass
        return 1 if x else 2  # 1

    def g(self):
        match self.case:
            case [1, x] if x:  # 2
                def inner(): return 1 or 2  # 1, of inner
            case _:
                case = 3
        return f"{1 if self else 2}"  # 1

x = 1 if os else 2
`,
			want: []fn{{"f", 10, 27, 11}, {"g", 29, 35, 4}, {"inner", 32, 32, 2}},
		},
		{
			name: "javascript", path: "a.js", loc: 28, src: `// if
import x from 'y';

export function plain(a, b = {}) {
  if (a && b || !a) { // 3
    return a?.b ?? b; // 1
  }
  return a ? b : 'x ? y'; // 1
}

class A extends B {
  static async *walk(x) {
    for await (const y of x) { yield y; } // 1
  }
  get size() { return this.if; }
  field = (e) => { while (e) {} }; // 1
}

const arrow = async x => x && 1; // 1
const multi = (a) =>
  a ? 1 : // 1
    2;
export default {
  method(a) { switch (a) { case 1: break; default: } }, // 1
  named: function () { try {} catch (e) {} }, // 1
  short: (a) => { do { } while (a); }, // 1
};
x.promise.then((r) => { if (r) {} }).catch(() => {});
foo(1, function () {
  if (x) {}
});
if (plain(1)) { arrow(); }
`,
			want: []fn{
				{"plain", 4, 9, 6}, {"walk", 12, 14, 2}, {"size", 15, 15, 1}, {"field", 16, 16, 2},
				{"arrow", 19, 19, 2}, {"multi", 20, 22, 2}, {"method", 24, 24, 2}, {"named", 25, 25, 2}, {"short", 26, 26, 2},
			},
		},
		{
			name: "typescript", path: "a.ts", loc: 23, src: `interface A {
  f(x: number): void;
  g: (x: number) => { ok: boolean };
  opt?: string;
}
type F = (a: string) => boolean;
declare function ext(a: number): void;
export function over(a: string): void;
export function over(a?: string): { ok: boolean } | undefined {
  return a ? { ok: true } : undefined; // 1
}
class B<T> {
  constructor(private readonly a: T) { if (a) {} } // 1
  public async get(id: number): Promise<T | null> {
    for (const x in y) {} // 1
    return null;
  }
  h = async <T,>(x: T): Promise<T> => {
    return x!;
  };
}
const handler: Handler = (a) => { if (a) {} }; // 1
const v = a! as unknown;
`,
			want: []fn{{"over", 9, 11, 2}, {"constructor", 13, 13, 2}, {"get", 14, 17, 2}, {"h", 18, 20, 1}, {"handler", 22, 22, 2}},
		},
		{
			name: "java", path: "A.java", loc: 20, src: `package a; // if

@Deprecated
public class A<T extends B> {
  private final Map<String, ? extends T> m = new HashMap<>();

  public A(int x) { super(x); }

  /** if && */
  @Override
  public <U> List<U> get(final int i, String... r) throws IOException, X {
    for (int k = 0; k < i && i > 0; k++) { // 2
      switch (k) { case 1: break; case 2: break; default: } // 2
    }
    Runnable r = new Runnable() {
      public void run() { while (true) {} } // 1, of run
    };
    try { } catch (E | F e) { return i > 0 ? null : x; } // 2
    return """
       if (a) {
       """;
  }
  abstract void none();
}
`,
			want: []fn{{"A", 7, 7, 1}, {"get", 11, 22, 7}, {"run", 16, 16, 2}},
		},
		{
			name: "kotlin", path: "a.kt", loc: 20, src: `package a

interface I {
    fun none(): Int
    val x: Int

    companion object { }
}
fun <T : Comparable<T>> List<T>.top(n: Int = 3, f: (Int) -> Int): T? {
    if (n > 0 || n < -1) return null // 2
    val y = this.find { it -> it != null } ?: return null // 1
    return when (n) {
        1, 2 -> "if ${"$"}{x}" // 1
        in 3..4 -> { null } // 1
        else -> null
    }
}
private fun short(a: Int) = if (a > 1) 1 else 2 // 1
fun long(a: Int): Int =
    try { a } catch (e: E) { // 1
        0
    }
`,
			want: []fn{{"top", 9, 17, 6}, {"short", 18, 18, 2}, {"long", 19, 22, 2}},
		},
		{
			name: "rust", path: "a.rs", loc: 22, src: `//! if
#![allow(x)]

pub trait T { fn none(&self) -> u8; fn given(&self) {} }
impl<'a> T for S<'a> {
    pub(crate) async unsafe fn go<F>(&'a self, f: F) -> Option<u8>
    where
        F: for<'b> Fn(&'b str) -> bool,
    {
        let c = || 1;
        let d = xs.iter().filter(|&&x| x && c()).map(move || 2); // 1
        match self {
            A { x } if x > 1 => 1, // 2
            B(_) | C => 2, // 1
            _ => 3,
        }
        while let Some(x) = f()? || false {} // 2
        for _ in 0..3 {} // 1
        '{'
    }
}
/* fn commented() {} */
macro_rules! m { ($x:expr) => { 1 } }
const fn top() {}
fn r#type(x: &&str) -> bool { if &&x == x { true } else { false } } // 1
`,
			want: []fn{{"given", 4, 4, 1}, {"go", 6, 20, 8}, {"top", 24, 24, 1}, {"type", 25, 25, 2}},
		},
		{
			name: "ruby", path: "a.rb", loc: 33, src: `# if
class A
  def self.build(x, y = nil)
    return 1 if x && y # 2
    unless x then 2 end # 1
    x.each do |z|
      z.if until z # 1
    end
    case x
    when 1, 2 then 3 # 1
    when 3 # 1
      :if
    end
    x ? 1 : 2 # 1
    x.empty? or raise # 1
  rescue E # 1
    validate :x, if: :y
  ensure
    3
  end

  private def ok? = @if
  def ==(o) o; end
  def name=(v)
    @x = <<~SQL
      if where
    SQL
    while v do end # 1
  end
  def no_parens a, b
    a if b # 1
  end
end
def top; end
puts "def x"
`,
			want: []fn{
				{"self.build", 3, 20, 10}, {"ok?", 22, 22, 1}, {"==", 23, 23, 1}, {"name=", 24, 29, 2},
				{"no_parens", 30, 32, 2}, {"top", 34, 34, 1},
			},
		},
		{
			name: "php", path: "a.php", loc: 21, src: `<h1>if</h1>
<?php
// if
abstract class A {
  abstract function none();
  public static function &ref(?int $if, string|null $b = null): ?array {
    if ($if && !$b) { // 2
      return $if ?: $b; // 1
    } elseif ($b or $c) { // 2
    }
    foreach ($x as $y) {} // 1
    $f = function ($z) use ($y) { return $z ? 1 : 2; }; // 1
    switch ($x) { case 1: default: } // 1
    try {} catch (E $e) {} // 1
    return $x ?? null; // 1
  }
}
function top() { while (1); } // 1
$s = "function no() { if }";
#[Attr]
function last() {}
?>
`,
			want: []fn{{"ref", 6, 16, 11}, {"top", 18, 18, 2}, {"last", 21, 21, 1}},
		},
		{
			name: "csharp", path: "a.cs", loc: 24, src: `using System;
#if DEBUG
namespace N {
  public class A<T> : B where T : new() {
    public A(int x) : base(x) { if (x > 0) {} } // 1
    public int Prop { get; set; }
    public int Arrow(int? x) => x ?? 0; // 1
    [Test]
    public async Task<int> Get<U>(U u, List<T> l) where U : class {
      foreach (var x in l) { // 1
        lock (x) { }
        int? y = x ? 1 : 2; // 1
      }
      using (var f = Open()) { }
      try { } catch (E e) when (e.X && y) { } // 2
      switch (u) { case 1: break; default: break; } // 1
      int Local(int z) { while (z > 0) z--; return z; } // 1, of Local
      var o = new Foo(1) { X = 2 };
      return u?.Value ?? l?[0] ?? 1; // 2
    }
    partial void None();
  }
}
#endif
`,
			want: []fn{{"A", 5, 5, 2}, {"Arrow", 7, 7, 2}, {"Get", 9, 20, 8}, {"Local", 17, 17, 2}},
		},
		{
			name: "c", path: "a.c", loc: 23, src: `#include <a.h>
#if X && Y
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
/* if */
int proto(int a);
MODULE(x)
static inline const char *
name(struct a *p, int (*cb)(int))
{
	if (p && p->next) /* 2 */
		return p ? "if" : 0; // 1
	list_for_each(p) {
		while (1) // 1
			;
	}
	do { } while (0); // 1
	switch (p->x) { case 'a': case 2: break; default: ; } // 2
	for (;;) // 1
		;
	return cb(1);
}
struct a { int x; };
int main(void) { return 0; }
`,
			// The ternary of the macro is outside any function.
			want: []fn{{"name", 9, 22, 9}, {"main", 24, 24, 1}},
		},
		{
			name: "c++", path: "a.cpp", loc: 26, src: `#include "a.h"
namespace n {
class A : public B {
 public:
  explicit A(int x) : B(x), y_{x}, z_(1) { if (x) {} } // 1
  ~A() override = default;
  virtual void pure() = 0;
  bool operator==(const A& o) const { return x == o.x && y == o.y; } // 1
  int get() const noexcept(true) override { return y_ ? 1 : 2; } // 1
  auto later() -> std::vector<int> { for (auto&& v : w) {} } // 1
};
template <typename T>
T A::run(T&& t, std::function<void()> f) try {
  auto l = [&](int i) { return i || t; }; // 1
  try { } catch (...) { } // 1
  while (!t) { } // 1
  auto x = std::move(t) && f; // 1
  return R"(if && )";
} catch (const E& e) { // outside the body of a function try block
}
A::~A() { }
void f(int a,
       int b) {
  x = 1'000;
}
}  // namespace n
`,
			want: []fn{
				{"A", 5, 5, 2}, {"operator==", 8, 8, 2}, {"get", 9, 9, 2}, {"later", 10, 10, 2},
				{"A::run", 13, 19, 5}, {"A::~A", 21, 21, 1}, {"f", 22, 25, 1},
			},
		},
		{
			name: "swift", path: "a.swift", loc: 25, src: `import X
protocol P {
    func none() -> Int
    var x: Int { get }
}
enum E { case a, b
    case c
}
class A: P {
    init?(x: Int) { if x > 0 { return nil } } // 1
    deinit { }
    override func go<T: P>(_ x: T?, y: Int = 1) async throws -> [Int]
        where T: Q {
        guard let z = x, y > 1 else { return [] } // 1
        if case .a = e, y > 0 || y < 3 { } // 2
        for i in 0..<3 where i > 1 { } // 1
        repeat { } while y > 2 // 1
        switch y { case 1, 2: break
        case 3: break // 2 with the one above
        default: break }
        do { try f() } catch { } // 1
        return y > 1 ? a ?? b : "\(c ? d : e)" // 3
    }
    static func == (l: A, r: A) -> Bool { l.x == r.x && true } // 1
}
`,
			want: []fn{{"init", 10, 10, 2}, {"deinit", 11, 11, 1}, {"go", 12, 23, 12}, {"==", 24, 24, 2}},
		},
		{
			name: "elixir", path: "a.ex", loc: 25, src: `defmodule A do
  @moduledoc false
  @spec f(integer, (integer -> integer)) :: atom
  def f(x, g) when is_integer(x) do
    # if
    if x > 1 and g, do: 1 # 2
    case x do
      1 -> :if # 1
      {:ok, y} when y > 1 -> g.(y) # 1
      _ -> nil
    end
    Enum.map(x, fn y -> y || 1 end) # 1
    cond do
      x == 1 -> 2 # 1
      true -> 3
    end
  rescue
    e in E -> e # 1
  end

  defp g(x), do: unless x, do: 1 # 1
  def h?(x) do
    ~s(if #{x})
  end
  defmacro m(a), do: a
  def last
end
`,
			want: []fn{{"f", 4, 19, 8}, {"g", 21, 21, 2}, {"h?", 22, 24, 1}, {"m", 25, 25, 1}},
		},
		{
			name: "scala", path: "a.scala", loc: 20, src: `package a
case class P(x: Int)
trait T { def none: Int }
object A {
  def f[T](x: Int)(implicit y: T): Option[Int] = {
    if (x > 0 && y != null) 1 else 2 // 2
    x match {
      case 1 => "if" // 1
      case n if n > 2 => s"${if (n) 1 else 2}" // 3
      case _ => 3
    }
    for (i <- 1 to 3) yield i // 1
  }
  def short(x: Int) = x
  def proc() { while (true) {} } // 1
  def three(x: Int): Int =
    if x > 1 then // 1
      2
    else 3
}
`,
			want: []fn{{"f", 5, 13, 8}, {"short", 14, 14, 1}, {"proc", 15, 15, 2}, {"three", 16, 19, 2}},
		},
		{
			name: "shell", path: "a.sh", loc: 22, src: `#!/bin/sh
# if
usage() {
  echo "if ${#x}" if for done
}
function build {
  if [ -n "$x" ] && test y || exit 1; then # 3
    for f in *; do echo "$f"; done # 1
  elif x; then # 1
    while read -r l; do :; done <<EOF # 1
if it's
EOF
  fi
  case "$1" in
    a) x ;; # 1
    *) y ;; # 1
  esac
}
deploy ()
{
  x="$(build | grep -v 'a' || true)" # 1
}
usage
if x; then build; fi
`,
			want: []fn{{"usage", 3, 5, 1}, {"build", 6, 18, 9}, {"deploy", 19, 22, 2}},
		},
		{
			name: "script without functions", path: "x.py", loc: 3, src: "import a\n\nif a and b:\n    c()\n",
			want: []fn{{"(file)", 1, 4, 3}},
		},
		{name: "only comments", path: "x.py", src: "# a\n\n'''b'''\n"},
		{name: "empty", path: "x.rb", src: ""},
		{name: "not source", path: "x.md", src: "# if\ntext\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file, err := Scan(tt.path, []byte(tt.src))
			if broken := strings.Contains(tt.name, "not parse"); (err != nil) != broken {
				t.Errorf("Scan(%s): error %v", tt.path, err)
			}
			if file.LOC != tt.loc {
				t.Errorf("LOC = %d, want %d", file.LOC, tt.loc)
			}
			var got []fn
			for _, f := range file.Functions {
				got = append(got, fn(f))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("functions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScanIsLinear guards against input on which the scanner looks back or
// ahead again and again.
func TestScanIsLinear(t *testing.T) {
	const (
		size  = 128 << 10
		limit = 3 * time.Second // a hundred times what it takes, a tenth of what it would take
	)
	pieces := []string{
		"<<~A ", "`${", "f\"{", "f\"{\n", "/", "/ [", "<<<X\n", "~s(", "'", "\"\"\"", "%w", "/*", "(", "{", "?", "r#", " \"\n", "<A b=\"c\">",
		"$", "@", "#", "def a ", "def=", "f = x => ", "fun f() = ", "-> ", "a::", "a(", "a(b){", "operator ", "func (", "enum {", "case ", "\\", "case a: ",
	}
	for _, piece := range pieces {
		src := bytes.Repeat([]byte(piece), size/len(piece))
		for i := 1; i < languageCount; i++ {
			path := "a" + dialects[i].exts[0]
			start := time.Now()
			if file, _ := Scan(path, src); file.Language != Language(i) {
				t.Fatalf("%s: language %v", path, file.Language)
			}
			if took := time.Since(start); took > limit {
				t.Errorf("%v of %.10q: took %v", Language(i), src, took)
			}
		}
	}
}

// FuzzScan: whatever the bytes, line numbers lie within the file, no function
// has a complexity below one, and no line is counted twice.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"def a():\n  if b: pass\n", "int f() {\n if (x) {}\n}\n", "const f = (a) =>\n a ? b : c", "fun f() = 1\nfun g() {", "A::A() : x{1} {}",
		"package a\nfunc f() { if x {} }", "case a:\n}{)(", "f() {", "operator()() {", "def ", "fn <", "func (a b[c]) d() {",
		"package a\nimport \"testing\"\nfunc TestX(t *testing.T) { t.Run(\"a\", func(t *testing.T) { t.Skip() }); if x { t.Error() } }",
	} {
		for i := 1; i < languageCount; i++ {
			f.Add(uint8(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, lang uint8, src []byte) {
		name := "a_test"
		if int(lang) > 0 && int(lang) < languageCount {
			name += dialects[lang].exts[0]
		}
		file, _ := Scan(name, src)
		lines := bytes.Count(src, []byte("\n")) + 1
		if file.LOC > lines {
			t.Errorf("%d lines of code in %d lines", file.LOC, lines)
		}
		for _, fn := range file.Functions {
			if fn.Line < 1 || fn.End < fn.Line || fn.End > lines || fn.Complexity < 1 || fn.Name == "" {
				t.Errorf("function %+v in %d lines", fn, lines)
			}
		}
		for _, def := range file.Tests {
			if def.Line < 1 || def.End < def.Line || def.End > lines || def.Name == "" {
				t.Errorf("test %s in lines %d to %d of %d", def.Name, def.Line, def.End, lines)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for lang, text := range benchmarkSource {
		b.Run(lang.String(), func(b *testing.B) {
			src := []byte(strings.Repeat(text, 1<<20/len(text)))
			if lang == Go {
				src = append([]byte("package a\n\n"), src...)
			}
			path := "a" + dialects[lang].exts[0]
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := Scan(path, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
