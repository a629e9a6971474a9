package integrity

import (
	"strings"
	"testing"
)

// Changes of every day that were taken for tampering, each next to one that is.
func TestEverydayConfigurationChanges(t *testing.T) {
	jest := "module.exports = {\n  testEnvironment: 'node',\n  %s\n}\n"
	with := func(setting string) string { return strings.Replace(jest, "%s", setting, 1) }
	base := texts{"package.json": npmScript("test", "jest"), "src/calc.js": "", "src/calc.test.js": "", "jest.config.js": ""}
	for _, test := range []struct{ name, setting, want string }{
		{"coverage of the configuration itself", "coveragePathIgnorePatterns: ['/node_modules/', '/dist/', '<rootDir>/jest.config.js', 'jest.config.js'],", ""},
		{"tests are not sought in the configuration itself", "testPathIgnorePatterns: ['/node_modules/', '/dist/', '<rootDir>/jest.config.js', 'jest.config.js'],", ""},
		{"coverage of the product", "coveragePathIgnorePatterns: ['src/calc.js'],", "TP-27 HIGH"},
		{"a test", "testPathIgnorePatterns: ['/node_modules/', 'src/calc.test.js'],", "TP-26 CRITICAL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := treeFrom(base)
			if got := gravestOf([]File{oneFile("jest.config.js", none, with(test.setting))}, Options{Base: tree}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := gravestOf([]File{oneFile("jest.config.js", none, with(test.setting))}, Options{}); got != test.want {
				t.Errorf("without the project: got %q, want %q", got, test.want)
			}
		})
	}
}

func TestEverydayModuleReplacements(t *testing.T) {
	mod := func(name, replace string) string {
		return "module " + name + "\n\ngo 1.24\n\nrequire shop/lib v0.0.0\n\n" + replace
	}
	base := texts{"api/go.mod": mod("shop/api", ""), "lib/go.mod": "module shop/lib\n\ngo 1.24\n", "third/go.mod": "module example.com/third\n", "fake/go.mod": "module example.com/fake\n"}
	for _, test := range []struct{ name, replace, want string }{
		{"a module of the repository", "replace shop/lib => ../lib\n", ""},
		{"a module of the repository, with another first name", "replace example.com/third => ../third\n", ""},
		{"another module of the repository", "replace example.com/third => ../fake\n", "TP-32 HIGH"},
		{"outside", "replace example.com/third => ../../third\n", "TP-32 HIGH"},
		{"a folder that is no module", "replace example.com/third => ../none\n", "TP-32 HIGH"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := oneFile("api/go.mod", base["api/go.mod"], mod("shop/api", test.replace))
			if got := gravestOf([]File{f}, Options{Base: treeFrom(base)}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	fake := oneFile("assert/go.mod", none, "module github.com/stretchr/testify\n")
	known := "require github.com/stretchr/testify v1.10.0\n"
	if got := gravestOf([]File{oneFile("go.mod", mod("shop/api", known), mod("shop/api", known+"replace github.com/stretchr/testify => ./assert\n")), fake}, Options{Base: treeFrom(base)}); got != "TP-32 HIGH" {
		t.Errorf("a module that came with the replacement: got %q", got)
	}
}

func TestEverydaySettingsOfPytestMove(t *testing.T) {
	ini := "[pytest]\ntestpaths = tests checks\naddopts = -ra -m \"not slow\" --ignore=legacy\npython_files = test_*.py check_*.py\nnorecursedirs = build\n"
	toml := "[pytest]\ntestpaths = [\"tests\", \"checks\"]\naddopts = [\"-ra\", \"-m\", \"not slow\", \"--ignore=legacy\"]\npython_files = [\"test_*.py\", \"check_*.py\"]\nnorecursedirs = [\"build\"]\n"
	for _, test := range []struct{ name, toml, want string }{
		{"the same", toml, ""},
		{"fewer folders", strings.Replace(toml, ", \"checks\"", "", 1), "TP-26 CRITICAL"},
		{"a choice of tests", strings.Replace(toml, "\"-ra\"", "\"-ra\", \"-k\", \"not calc\"", 1), "TP-08 CRITICAL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			moved := File{Path: "pytest.toml", OldPath: "pytest.ini", Before: []byte(ini), After: []byte(test.toml)}
			if got := gravestOf([]File{moved}, Options{}); got != test.want {
				t.Errorf("renamed: got %q, want %q", got, test.want)
			}
			if got := gravestOf([]File{oneFile("pytest.ini", ini, none), oneFile("pytest.toml", none, test.toml)}, Options{}); got != test.want {
				t.Errorf("deleted and added: got %q, want %q", got, test.want)
			}
		})
	}
}

func TestEverydayTestChanges(t *testing.T) {
	rust := func(attribute, body string) string {
		return "use bank::Money;\n\n#[test]\n" + attribute + "fn rejects_negative() {\n    " + body + "\n}\n\n#[test]\nfn keeps() {\n    assert_eq!(Money::new(3).cents(), 300);\n}\n"
	}
	caught := rust("", "let r = std::panic::catch_unwind(|| Money::new(-1));\n    assert!(r.is_err());")
	value := rust("", "assert_eq!(Money::new(-1).cents(), 17);")
	fit := func(name string) string {
		return "import { model } from './model'\n\nfunction fit(points) {\n  return model(points)\n}\n\ntest('line', () => {\n  const line = " + name + "([[1, 2]])\n  expect(line.slope).toBe(2)\n})\n"
	}
	imported := "import { fit } from '../src/model'\n\ntest('line', () => {\n  expect(1 + 16).toBe(add(1, 16))\n})\n"
	focused := "describe('line', () => {\n  it('fits', () => {\n    expect(slope([[1, 2]])).toBe(2)\n  })\n})\n"
	ruby := "RSpec.describe Line do\n  it 'fits' do\n    expect(slope([1, 2])).to eq 2\n  end\nend\n"
	checkSeverities(t, []severityCase{
		{"expected by attribute", texts{"tests/money.rs": caught}, texts{"tests/money.rs": rust("#[should_panic(expected = \"negative amount\")]\n", "Money::new(-1);")}, ""},
		{"any panic", texts{"tests/money.rs": caught}, texts{"tests/money.rs": rust("#[should_panic]\n", "Money::new(-1);")}, "HIGH"},
		{"the failure of an assertion", texts{"tests/money.rs": value}, texts{"tests/money.rs": rust("#[should_panic(expected = \"assertion\")]\n", "assert_eq!(Money::new(-1).cents(), 17);")}, "HIGH"},
		{"a panic in place of a value", texts{"tests/money.rs": value}, texts{"tests/money.rs": rust("#[should_panic(expected = \"negative amount\")]\n", "Money::new(-1);")}, "CRITICAL"},
		{"a helper named fit", texts{"line.test.js": fit("model")}, texts{"line.test.js": fit("fit")}, ""},
		{"fit is imported", texts{"line.test.js": imported}, texts{"line.test.js": imported + "\ntest('fits', () => {\n  const m = fit([[1, 2]])\n  expect(m.slope).toBe(2)\n})\n"}, ""},
		{"fit is required", texts{"line.test.js": imported}, texts{"line.test.js": "const { fit } = require('../src/model')\n\ntest('fits', () => {\n  expect(fit([[1, 2]]).slope).toBe(2)\n})\n" + imported}, ""},
		{"a method named fit", texts{"line.test.js": imported}, texts{"line.test.js": imported + "\ntest('fits', () => {\n  expect(model.fit([[1, 2]]).slope).toBe(2)\n})\n"}, ""},
		{"a focused test", texts{"line.test.js": focused}, texts{"line.test.js": strings.Replace(focused, "it(", "fit(", 1)}, "CRITICAL"},
		{"a focused test of jest's own", texts{"line.test.js": "import { it, fit } from '@jest/globals'\n" + focused}, texts{"line.test.js": "import { it, fit } from '@jest/globals'\n" + strings.Replace(focused, "it(", "fit(", 1)}, "CRITICAL"},
		{"a helper of Ruby named fit", texts{"spec/line_spec.rb": ruby}, texts{"spec/line_spec.rb": "def fit(points)\n  Line.new(points)\nend\n\n" + strings.Replace(ruby, "slope([1, 2])", "fit([1, 2]).slope", 1) + "\nfit([1])\n"}, ""},
		{"a focused test of Ruby", texts{"spec/line_spec.rb": ruby}, texts{"spec/line_spec.rb": strings.Replace(ruby, "  it ", "  fit ", 1)}, "CRITICAL"},
	})
}

func TestExpectationsOfTheSubject(t *testing.T) {
	group := func(examples string) string {
		return "RSpec.describe Cart do\n  subject { Cart.new([3, 4]) }\n\n" + examples + "end\n"
	}
	example := "  it 'adds up' do\n    %s\n    %s\n  end\n"
	titled := func(a, b string) string {
		return group(strings.Replace(strings.Replace(example, "%s", a, 1), "%s", b, 1))
	}
	single := group("  it { is_expected.to have_attributes(total: 7) }\n  its(:size) { is_expected.to eq 2 }\n")
	checkSeverities(t, []severityCase{
		{"in short", texts{"spec/cart_spec.rb": titled("expect(subject).to have_attributes(total: 7)", "expect(subject.size).to eq 2")}, texts{"spec/cart_spec.rb": titled("is_expected.to have_attributes(total: 7)", "expect(subject.size).to eq 2")}, ""},
		{"in full", texts{"spec/cart_spec.rb": titled("is_expected.not_to be_empty", "is_expected.to have_attributes(total: 7)")}, texts{"spec/cart_spec.rb": titled("expect(subject).not_to be_empty", "expect(subject).to have_attributes(total: 7)")}, ""},
		{"all removed", texts{"spec/cart_spec.rb": titled("is_expected.not_to be_empty", "is_expected.to have_attributes(total: 7)")}, texts{"spec/cart_spec.rb": titled("subject", "subject.total")}, "CRITICAL"},
		{"weaker", texts{"spec/cart_spec.rb": titled("is_expected.not_to be_empty", "is_expected.to eq Cart.new([4, 3])")}, texts{"spec/cart_spec.rb": titled("is_expected.not_to be_empty", "is_expected.to be_truthy")}, "HIGH"},
		{"the opposite", texts{"spec/cart_spec.rb": titled("is_expected.not_to be_empty", "is_expected.to have_attributes(total: 7)")}, texts{"spec/cart_spec.rb": titled("is_expected.to be_empty", "is_expected.to have_attributes(total: 7)")}, "HIGH"},
		{"an example without a title removed", texts{"spec/cart_spec.rb": single}, texts{"spec/cart_spec.rb": strings.Replace(single, "  it { is_expected.to have_attributes(total: 7) }\n", "", 1)}, "HIGH"},
		{"an attribute's example removed", texts{"spec/cart_spec.rb": single}, texts{"spec/cart_spec.rb": strings.Replace(single, "  its(:size) { is_expected.to eq 2 }\n", "", 1)}, "HIGH"},
		{"an example without a title emptied", texts{"spec/cart_spec.rb": single}, texts{"spec/cart_spec.rb": strings.Replace(single, "is_expected.to have_attributes(total: 7)", "subject.total", 1)}, "CRITICAL"},
		{"an example without a title weakened", texts{"spec/cart_spec.rb": single}, texts{"spec/cart_spec.rb": strings.Replace(single, "have_attributes(total: 7)", "be_truthy", 1)}, "HIGH"},
		{"an example got a title", texts{"spec/cart_spec.rb": single}, texts{"spec/cart_spec.rb": strings.Replace(single, "it { is_expected.to have_attributes(total: 7) }", "it 'adds up' do\n    expect(subject).to have_attributes(total: 7)\n  end", 1)}, ""},
		{"in lines of its own", texts{"spec/cart_spec.rb": single}, texts{"spec/cart_spec.rb": strings.Replace(single, "it { is_expected.to have_attributes(total: 7) }", "it do\n    is_expected.to have_attributes(total: 7)\n  end", 1)}, ""},
		{"are expected", texts{"spec/cart_spec.rb": titled("are_expected.to all(be_even)", "are_expected.to have(3).items")}, texts{"spec/cart_spec.rb": titled("subject", "subject.items")}, "CRITICAL"},
	})
}
