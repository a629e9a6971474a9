package source

// fn is a function as the tables below write it.
type fn struct {
	Name       string
	Line, End  int
	Complexity int
}

// scanCase is a source and what was counted in it manually: the numbers after
// a comment sign are the decision points of that line.
type scanCase struct {
	name, path, src string
	loc             int
	want            []fn
}

var scanCases = []scanCase{
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
			{"plain", 4, 9, 6},
			{"walk", 12, 14, 2},
			{"size", 15, 15, 1},
			{"field", 16, 16, 2},
			{"arrow", 19, 19, 2},
			{"multi", 20, 22, 2},
			{"method", 24, 24, 2},
			{"named", 25, 25, 2},
			{"short", 26, 26, 2},
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
			{"self.build", 3, 20, 10},
			{"ok?", 22, 22, 1},
			{"==", 23, 23, 1},
			{"name=", 24, 29, 2},
			{"no_parens", 30, 32, 2},
			{"top", 34, 34, 1},
		},
	},
}
