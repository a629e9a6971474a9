package source

// moreScanCases continues where scanCases ends; the file would be too long.
var moreScanCases = []scanCase{
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
			{"A", 5, 5, 2},
			{"operator==", 8, 8, 2},
			{"get", 9, 9, 2},
			{"later", 10, 10, 2},
			{"A::run", 13, 19, 5},
			{"A::~A", 21, 21, 1},
			{"f", 22, 25, 1},
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
