package mutation

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/test/docs"
	"supervise/test/tools"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Each line names one mutant that is wanted of a file, or with "-" in front one that is
// not.
func TestMutantsOfEachLanguage(t *testing.T) {
	for name, want := range map[string]string{
		"cart.go": `
17 Cart.Add shift_boundary: if price < 0 || n <= 0 { => if price <= 0 || n <= 0 {
17 Cart.Add swap_logic: if price < 0 || n <= 0 { => if price < 0 && n <= 0 {
-25 Cart.Add drop_statement: log.Printf("%d", n) =>
18 Cart.Add change_return: return errors.New("bad") => return nil
`,
		"cart.py": `
17 add negate_condition: if price < 0 or n <= 0: => if not (price < 0 or n <= 0):
18 add drop_statement: raise ValueError(f"bad {price}") =>
21 add change_arithmetic: self.items.append(price*n) => self.items.append(price/n)
31 total change_return: return round(total * (1 + RATE), 2) => return None
4  change_constant: RATE = 0.2 => RATE = 1.2
-10 Cart change_constant: """A cart 12.""" => """A cart 13."""
`,
		"cart.js": `
14 add shift_boundary: if (this.items.length>=this.limit) return false => if (this.items.length>this.limit) return false
21 total change_arithmetic: for (const i of this.items) sum += i => for (const i of this.items) sum -= i
6 constructor drop_statement: this.items = [] =>
12 add drop_statement: throw new Error('bad') =>
-28 slug drop_statement: .replace(/ +/g, '-'); =>
`,
		"cart.ts": `
7 add shift_boundary: if (item.price < 0 || n <= 0) { => if (item.price <= 0 || n <= 0) {
-4  shift_boundary: export class Cart<T extends Item<T>> { => export class Cart<=T extends Item<T>> {
24 total change_return: return total * (1 + RATE); => return undefined as any;
`,
		"Cart.java": `
18 add change_return: return items.contains(price); => return !(items.contains(price));
26 total change_return: return total; => return (total) + 1;
17 add drop_statement: items.add(price * n); =>
`,
		"cart.rs": `
16 add drop_statement: self.items.push(price * n); =>
17 add change_constant: true => false
-32 adds change_constant: assert_eq!(Cart { items: vec![] }.total(), 0); => assert_eq!(Cart { items: vec![] }.total(), 1);
`,
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range MutantsOf("shop/"+name, read(t, name)) {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s %s: %s => %s", m.Line, m.Function, m.Operator, m.Original, m.Mutated)))
			}
			for line := range strings.Lines(strings.TrimSpace(want)) {
				line = strings.TrimSpace(line)
				wanted, not := strings.CutPrefix(line, "-")
				if slices.Contains(got, wanted) == not {
					t.Errorf("%s is there: %t; all are\n%s", wanted, not, strings.Join(got, "\n"))
				}
			}
		})
	}
}

func TestMutantsOfUnknownText(t *testing.T) {
	for name, text := range map[string]string{"a.md": "if x == 1 then", "a.go": "package a\nfunc {", "a.json": `{"a": 1}`, "empty.py": ""} {
		if list := MutantsOf(name, []byte(text)); len(list) > 0 {
			t.Errorf("%s has mutants: %+v", name, list)
		}
	}
}

// Nearly all mutants of Go build: they are type checked.
func TestMutantsOfGoBuild(t *testing.T) {
	for _, name := range []string{"testdata/cart.go.txt", "mutation.go"} {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		imports := importer.ForCompiler(token.NewFileSet(), "source", nil)
		list := MutantsOf("shop/x.go", src)
		var bad []string
		for _, m := range list {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "x.go", m.ApplyTo(src), 0)
			if err != nil {
				t.Fatalf("%+v: %v", m, err)
			}
			if name != "mutation.go" { // that one is part of a package
				conf := types.Config{Importer: imports, Error: func(error) {}}
				if _, err = conf.Check("x", fset, []*ast.File{file}, nil); err != nil && !strings.Contains(err.Error(), "no field or method") {
					bad = append(bad, fmt.Sprintf("%s => %s: %v", m.Original, m.Mutated, err))
				}
			}
		}
		if len(list) == 0 || len(bad) > len(list)/20 {
			t.Errorf("%s: of %d mutants do not build: %s", name, len(list), strings.Join(bad, "\n"))
		}
	}
}

// The mutants of interpreted languages are valid programs: their own parsers read them.
func TestMutantsAreValidPrograms(t *testing.T) {
	for name, parse := range map[string][]string{
		"cart.py": {"python3", "-c", "import ast, sys\nfor f in sys.argv[1:]: ast.parse(open(f).read(), f)"},
		"cart.js": {"node", "-e", "const fs = require('fs'), vm = require('vm'); for (const f of process.argv.slice(1)) new vm.Script(fs.readFileSync(f, 'utf8'), {filename: f})"},
	} {
		t.Run(name, func(t *testing.T) {
			tools.Need(t, parse[0])
			src, dir := read(t, name), t.TempDir()
			args := slices.Clone(parse[1:])
			for i, m := range MutantsOf(name, src) {
				file := filepath.Join(dir, fmt.Sprintf("%d-%s", i, name))
				if err := os.WriteFile(file, m.ApplyTo(src), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, file)
			}
			if out, err := exec.Command(parse[0], args...).CombinedOutput(); err != nil || len(args) < 10 {
				t.Errorf("%d arguments, %v: %s", len(args), err, out)
			}
		})
	}
}

// A choice is even, whatever its length, and the same each time.
func TestChoice(t *testing.T) {
	var list []Mutant
	for f, n := range map[string]int{"a.py": 40, "b.py": 8, "c.py": 2} {
		for i := range n {
			list = append(list, Mutant{File: f, Function: fmt.Sprint(i % 2), Line: i, Operator: operators[i%3].name})
		}
	}
	slices.SortFunc(list, func(a, b Mutant) int {
		return strings.Compare(a.File+a.Function, b.File+b.Function)*100 + a.Line - b.Line
	})
	few := Sample(list, 6)
	places := map[string]int{}
	for _, m := range few {
		places[m.File+" "+m.Function]++
	}
	if len(few) != 6 || len(places) != 6 {
		t.Errorf("6 of 6 functions are from %v", places)
	}
	byOperator := map[Operator]int{}
	for _, m := range Sample(list[:0:0], 3) {
		t.Errorf("%+v of nothing", m)
	}
	for _, m := range Sample(list, 18) {
		byOperator[m.Operator]++
	}
	for _, n := range byOperator {
		if n < 4 {
			t.Errorf("18 are by %v", byOperator)
		}
	}
	if again := Sample(list, 6); !slices.Equal(few, again) {
		t.Errorf("chosen %v, then %v", few, again)
	}
	if all := Sample(list, 1000); len(all) != len(list) {
		t.Errorf("%d of %d", len(all), len(list))
	}
}

// A mutant changes one place, in the line that it names.
func TestMutantsChangeOneLine(t *testing.T) {
	for _, name := range []string{"cart.go", "cart.py", "cart.js", "cart.ts", "Cart.java", "cart.rs"} {
		src := read(t, name)
		was := strings.Split(string(src), "\n")
		for _, m := range MutantsOf(name, src) {
			is := strings.Split(string(m.ApplyTo(src)), "\n")
			for i := range was {
				if len(is) != len(was) || (is[i] != was[i]) != (i == m.Line-1) {
					t.Errorf("%s:%d %s => %s: line %d differs: %t", name, m.Line, m.Original, m.Mutated, i+1, is[i] != was[i])
				}
			}
		}
	}
}

// docs/integrity.md lists the operators.
func TestOperatorsAreDocumented(t *testing.T) {
	rows := []string{"| operator | what changes |", "|---|---|"}
	for _, o := range operators {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", o.name, o.about))
	}
	docs.Block(t, "integrity.md", "operators", "./internal/mutation", strings.Join(rows, "\n")+"\n")
}
