package integrity

import (
	"strings"
	"testing"
)

// Assertions that are still there, and may not be reached any more.
func TestGuardedAssertions(t *testing.T) {
	python := func(body string) texts {
		return texts{"test_a.py": "def test_total(db):\n    rows = load(db)\n    row = rows[0]\n" + body}
	}
	loop := func(body string) texts {
		return texts{"test_a.py": "def test_total(db):\n    for row in load(db):\n" + body + "        assert row.total == 17\n"}
	}
	golang := func(body string) texts {
		return texts{"a_test.go": goHead + "func TestTotal(t *testing.T) {\n\tgot := Total(3)\n" + body + "}\n"}
	}
	goCheck := "\tif got != 17 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n"
	goTable := func(leave string) texts {
		return texts{"a_test.go": goHead + "func TestTotal(t *testing.T) {\n\tfor _, row := range rows() {\n" + leave + "\t\tif row.Total() != 17 {\n\t\t\tt.Errorf(\"got %d\", row.Total())\n\t\t}\n\t}\n}\n"}
	}
	script := func(body string) texts {
		return texts{"a.test.js": "test('total', async () => {\n  const cart = await load()\n" + body + "})\n"}
	}
	ruby := func(body string) texts {
		return texts{"spec/a_spec.rb": "RSpec.describe Cart do\n  it 'adds up' do\n    cart = load\n" + body + "  end\nend\n"}
	}
	rust := func(body string) texts {
		return texts{"tests/a.rs": "#[test]\nfn total() {\n    let cart = load();\n" + body + "}\n"}
	}
	rustCheck := "    assert_eq!(cart.total(), 17);\n"
	goSide := "\tgo func() {\n\t\tif got != 17 {\n\t\t\tt.Errorf(\"got %d\", got)\n\t\t}\n\t}()\n"
	checkSeverities(t, []severityCase{
		{"Python, if it is true", python("    assert row.total == 17\n"), python("    if row.total:\n        assert row.total == 17\n"), "HIGH"},
		{"Python, if it is there", python("    assert row.total == 17\n    assert len(rows) == 3\n"), python("    if row is not None:\n        assert row.total == 17\n    assert len(rows) == 3\n"), "MEDIUM"},
		{"Python, with an alternative", python("    assert row.total == 17\n"), python("    if row.total:\n        assert row.total == 17\n    else:\n        assert rows == []\n"), ""},
		{"Python, by a parameter", python("    assert row.total == 17\n"), texts{"test_a.py": strings.Replace(python("    if row.total and strict:\n        assert row.total == 17\n")["test_a.py"], "(db)", "(db, strict)", 1)}, ""},
		{"Python, by something else", python("    assert row.total == 17\n"), python("    if sys.version_info > (3, 8):\n        assert row.total == 17\n"), ""},
		{"Python, where the run is", python("    assert row.total == 17\n"), python("    if not os.environ.get(\"CI\"):\n        assert row.total == 17\n"), "HIGH"},
		{"Python, as before", python("    if row.total:\n        assert row.total == 17\n        assert rows\n"), python("    if row.total:\n        assert row.total == 17\n    assert rows\n"), ""},
		{"Python, failing rows left out", loop(""), loop("        if not row.total:\n            continue\n"), "HIGH"},
		{"Python, failing rows left out in one line", loop(""), loop("        if row.total != 17: continue\n"), "HIGH"},
		{"Python, other rows left out", loop(""), loop("        if platform.system() == \"Windows\":\n            continue\n"), ""},
		{"Python, returns before", python("    assert row.total == 17\n"), python("    if row.total != 17:\n        return\n    assert row.total == 17\n"), "HIGH"},
		{"Python, returns after", python("    assert row.total == 17\n"), python("    assert row.total == 17\n    if row.total:\n        return\n"), ""},
		{"Go, under a condition", golang(goCheck), golang("\tif got > 0 {\n\t\tif got != 17 {\n\t\t\tt.Errorf(\"got %d\", got)\n\t\t}\n\t}\n"), "HIGH"},
		{"Go, rows left out", goTable(""), goTable("\t\tif row.Total() == 0 {\n\t\t\tcontinue\n\t\t}\n"), "HIGH"},
		{"Go, a field of the table", goTable(""), texts{"a_test.go": strings.Replace(goTable("\t\tif row.skipTotal {\n\t\t\tcontinue\n\t\t}\n")["a_test.go"], "rows()", "[]struct{ skipTotal bool }{{true}}", 1)}, ""},
		{"Go, nobody waits", golang(goCheck), golang(goSide), "HIGH"},
		{"Go, waited for", golang(goCheck), golang("\tvar wg sync.WaitGroup\n\twg.Add(1)\n" + goSide + "\twg.Wait()\n"), ""},
		{"JavaScript, under a condition", script("  expect(cart.total).toBe(17)\n"), script("  if (cart.total) {\n    expect(cart.total).toBe(17)\n  }\n"), "HIGH"},
		{"JavaScript, without braces", script("  expect(cart.total).toBe(17)\n"), script("  if (cart.total) expect(cart.total).toBe(17)\n"), "HIGH"},
		{"JavaScript, left before", script("  expect(cart.total).toBe(17)\n"), script("  if (!cart.total) return\n  expect(cart.total).toBe(17)\n"), "HIGH"},
		{"JavaScript, a promise", script("  expect(cart.total).toBe(17)\n"), script("  sleep(10).then(() => {\n    expect(cart.total).toBe(17)\n  })\n"), "HIGH"},
		{"JavaScript, a timer", script("  expect(cart.total).toBe(17)\n"), script("  setTimeout(() => {\n    expect(cart.total).toBe(17)\n  }, 0)\n"), "HIGH"},
		{"JavaScript, an awaited promise", script("  expect(cart.total).toBe(17)\n"), script("  await sleep(10).then(() => {\n    expect(cart.total).toBe(17)\n  })\n"), ""},
		{"JavaScript, a returned promise", script("  expect(cart.total).toBe(17)\n"), script("  return sleep(10).then(() => {\n    expect(cart.total).toBe(17)\n  })\n"), ""},
		{"JavaScript, a callback that ends the test", script("  expect(cart.total).toBe(17)\n"), texts{"a.test.js": "test('total', (done) => {\n  load().then((cart) => {\n    expect(cart.total).toBe(17)\n    done()\n  })\n})\n"}, ""},
		{"Ruby, under a condition", ruby("    expect(cart.total).to eq 17\n"), ruby("    expect(cart.total).to eq 17 if cart.total\n"), "HIGH"},
		{"Ruby, in a block", ruby("    expect(cart.total).to eq 17\n"), ruby("    if cart.total\n      expect(cart.total).to eq 17\n    end\n"), "HIGH"},
		{"Ruby, left before", ruby("    expect(cart.total).to eq 17\n"), ruby("    next unless cart.total\n    expect(cart.total).to eq 17\n"), "HIGH"},
		{"Ruby, with an alternative", ruby("    expect(cart.total).to eq 17\n"), ruby("    if cart.total\n      expect(cart.total).to eq 17\n    else\n      expect(cart).to be_empty\n    end\n"), ""},
		{"Rust, if there is some", rust(rustCheck), rust("    if cart.total() > 0 {\n        assert_eq!(cart.total(), 17);\n    }\n"), "HIGH"},
		{"Rust, in a thread", rust(rustCheck), rust("    std::thread::spawn(move || {\n        assert_eq!(cart.total(), 17);\n    });\n"), "HIGH"},
		{"Rust, in a thread that is joined", rust(rustCheck), rust("    let h = std::thread::spawn(move || {\n        assert_eq!(cart.total(), 17);\n    });\n    h.join().unwrap();\n"), ""},
	})
}
