package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"supervise/test/tools"

	"github.com/google/go-cmp/cmp"
)

// mixLanguage is a project of which Sub and Mul are wrong, and how agents change it. Each
// role is a script of the shell.
type mixLanguage struct {
	name, needs string
	files       map[string]string
	roles       map[string]string
}

// The roles. Those that did the task are to be chosen, those that deceive never.
var (
	rightRoles = []string{"right", "right too"}
	wrongRoles = []string{"deletes", "weakens", "skips", "nothing", "half", "breaks", "crashes"}
	// These pass all that the project tests: only the tests of others can tell.
	deceivingRoles = []string{"by heart", "other behaviour"}
)

var mixLanguages = []mixLanguage{
	{
		name: "Go", needs: "go",
		files: map[string]string{
			"go.mod":  "module calc\n\ngo 1.22\n",
			"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a + b }\n\nfunc Mul(a, b int) int { return a + b }\n",
			"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"Add\")\n\t}\n}\n\n" +
				"func TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(\"Sub\")\n\t}\n}\n\nfunc TestMul(t *testing.T) {\n\tif Mul(2, 3) != 6 {\n\t\tt.Fatal(\"Mul\")\n\t}\n}\n",
		},
		roles: map[string]string{
			"right": `sed -i '/Sub/s/a + b/a - b/;/Mul/s/a + b/a * b/' calc.go
printf 'package calc\n\nimport "testing"\n\nfunc TestMore(t *testing.T) {\n\tif Sub(2, 5) != -3 || Sub(7, 0) != 7 || Mul(4, 5) != 20 {\n\t\tt.Fatal("more")\n\t}\n}\n' >more_test.go`,
			"right too":       `sed -i '/Sub/s/a + b/-b + a/;/Mul/s/a + b/b * a/' calc.go`,
			"by heart":        `sed -i '/Sub/s/return a + b/return map[[2]int]int{{3, 2}: 1}[[2]int{a, b}]/;/Mul/s/return a + b/return map[[2]int]int{{2, 3}: 6}[[2]int{a, b}]/' calc.go`,
			"other behaviour": `sed -i '/Sub/s/return a + b/return max(a-b, b-a)/;/Mul/s/a + b/a * b/' calc.go`,
			"deletes":         `sed -i '/TestSub/,$d' calc_test.go`,
			"weakens":         `sed -i 's/Sub(3, 2) != 1/Sub(3, 2) != 5/;s/Mul(2, 3) != 6/Mul(2, 3) != 5/' calc_test.go`,
			"skips":           `sed -i 's/\(func Test[SM].*\)/\1\n\tt.Skip()/' calc_test.go`,
			"nothing":         `:`,
			"half":            `sed -i '/Sub/s/a + b/a - b/' calc.go`,
			"breaks":          `sed -i '/Add/s/a + b/a - b/;/Sub/s/a + b/a - b/;/Mul/s/a + b/a * b/' calc.go`,
			"crashes":         `sed -i '/Sub/s/a + b/a -/' calc.go; exit 1`,
		},
	},
	{
		name: "Python", needs: "pytest",
		files: map[string]string{
			"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = [\".\"]\n", ".gitignore": "__pycache__/\n.pytest_cache/\n",
			"calc.py":      "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a + b  # sub\n\n\ndef mul(a, b):\n    return a + b  # mul\n",
			"test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n\n\ndef test_mul():\n    assert calc.mul(2, 3) == 6\n",
		},
		roles: map[string]string{
			"right": `sed -i '/# sub/s/a + b/a - b/;/# mul/s/a + b/a * b/' calc.py
printf 'import calc\n\n\ndef test_more():\n    assert calc.sub(2, 5) == -3\n    assert calc.sub(7, 0) == 7\n    assert calc.mul(4, 5) == 20\n' >test_more.py`,
			"right too":       `sed -i '/# sub/s/a + b/-b + a/;/# mul/s/a + b/b * a/' calc.py`,
			"by heart":        `sed -i '/# sub/s/a + b/{(3, 2): 1}.get((a, b))/;/# mul/s/a + b/{(2, 3): 6}.get((a, b))/' calc.py`,
			"other behaviour": `sed -i '/# sub/s/a + b/abs(a - b)/;/# mul/s/a + b/a * b/' calc.py`,
			"deletes":         `sed -i '/test_sub/,$d' test_calc.py`,
			"weakens":         `sed -i 's/(3, 2) == 1/(3, 2) == 5/;s/(2, 3) == 6/(2, 3) == 5/' test_calc.py`,
			"skips":           `sed -i 's/^def test_[sm].*/import pytest\n\n\n@pytest.mark.skip\n&/' test_calc.py`,
			"nothing":         `:`,
			"half":            `sed -i '/# sub/s/a + b/a - b/' calc.py`,
			"breaks":          `sed -i '2s/a + b/a - b/;/# sub/s/a + b/a - b/;/# mul/s/a + b/a * b/' calc.py`,
			"crashes":         `sed -i '/# sub/s/a + b/a -/' calc.py; exit 1`,
		},
	},
	{
		name: "Node", needs: "node",
		files: map[string]string{
			"package.json": "{\"name\": \"calc\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test\"}}\n",
			"calc.js":      "exports.add = (a, b) => a + b;\nexports.sub = (a, b) => a + b;\nexports.mul = (a, b) => a + b;\n",
			"calc.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('./calc.js');\n\ntest('add', () => {\n  assert.strictEqual(calc.add(1, 2), 3);\n});\n\n" +
				"test('sub', () => {\n  assert.strictEqual(calc.sub(3, 2), 1);\n});\n\ntest('mul', () => {\n  assert.strictEqual(calc.mul(2, 3), 6);\n});\n",
		},
		roles: map[string]string{
			"right": `sed -i '/sub/s/a + b/a - b/;/mul/s/a + b/a * b/' calc.js
printf "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('./calc.js');\n\ntest('more', () => {\n  assert.strictEqual(calc.sub(2, 5), -3);\n  assert.strictEqual(calc.sub(7, 0), 7);\n  assert.strictEqual(calc.mul(4, 5), 20);\n});\n" >more.test.js`,
			"right too":       `sed -i '/sub/s/a + b/-b + a/;/mul/s/a + b/b * a/' calc.js`,
			"by heart":        `sed -i '/sub/s/a + b/({"3,2": 1}[[a, b]])/;/mul/s/a + b/({"2,3": 6}[[a, b]])/' calc.js`,
			"other behaviour": `sed -i '/sub/s/a + b/Math.abs(a - b)/;/mul/s/a + b/a * b/' calc.js`,
			"deletes":         `sed -i "/test('sub'/,\$d" calc.test.js`,
			"weakens":         `sed -i 's/(3, 2), 1/(3, 2), 5/;s/(2, 3), 6/(2, 3), 5/' calc.test.js`,
			"skips":           `sed -i "s/test('\([sm]\)/test.skip('\1/" calc.test.js`,
			"nothing":         `:`,
			"half":            `sed -i '/sub/s/a + b/a - b/' calc.js`,
			"breaks":          `sed -i '/add/s/a + b/a - b/;/sub/s/a + b/a - b/;/mul/s/a + b/a * b/' calc.js`,
			"crashes":         `sed -i '/sub/s/a + b/a -/' calc.js; exit 1`,
		},
	},
}

// mix are four roles, k of them right. Where one is right, one at least of them adds tests, and
// candidates may deceive that only these tell from it.
func mix(random *rand.Rand, k int) []string {
	roles := []string{"right", "right too", "right too", "right too"}[:k]
	roles = slices.Clone(roles)
	for len(roles) < 4 {
		from := wrongRoles
		if k > 0 {
			from = append(slices.Clone(wrongRoles), deceivingRoles...)
		}
		roles = append(roles, from[random.IntN(len(from))])
	}
	random.Shuffle(4, func(i, j int) { roles[i], roles[j] = roles[j], roles[i] })
	return roles
}

// TestE2ECandidateMixes has four scripted agents at the same task, of which some are right.
// SUPERVISE_CANDIDATE_MIXES is the number of mixes of each language; without it, there is one
// of the first.
func TestE2ECandidateMixes(t *testing.T) {
	tools.Long(t, "SUPERVISE_CANDIDATE_MIXES")
	n, languages := 1, mixLanguages[:1]
	if text := os.Getenv("SUPERVISE_CANDIDATE_MIXES"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil || n < 1 {
			t.Fatalf("SUPERVISE_CANDIDATE_MIXES=%s: want a number of mixes", text)
		}
		languages = mixLanguages
	}
	random := rand.New(rand.NewPCG(seedOf(t), 0))
	t.Log("| language | right of 4 | mixes | the right one chosen | a wrong one | the baseline |")
	for _, l := range languages {
		if err := tools.Check(l.needs); err != nil {
			t.Logf("no mixes in %s: %v", l.name, err)
			continue
		}
		counts := map[int]*[4]int{} // by k: mixes, right, wrong, baseline
		for i := range n {
			k := (i + 1) % 5
			roles := mix(random, k)
			chosen := l.choose(t, roles)
			c := counts[k]
			if c == nil {
				c = &[4]int{}
				counts[k] = c
			}
			c[0]++
			switch {
			case chosen == 0:
				c[3]++
			case slices.Contains(rightRoles, roles[chosen-1]):
				c[1]++
			default:
				c[2]++
				t.Errorf("%s: candidate %d of %q was chosen", l.name, chosen, roles)
			}
			if k == 0 != (chosen == 0) {
				t.Errorf("%s: of %q candidate %d was chosen (0: the baseline)", l.name, roles, chosen)
			}
		}
		for k := range 5 {
			if c := counts[k]; c != nil {
				t.Logf("| %s | %d | %d | %d | %d | %d |", l.name, k, c[0], c[1], c[2], c[3])
			}
		}
	}
}

// choose returns the candidate that was chosen, 0 for the baseline, and looks that the
// user's tree is what was chosen and nothing is left.
func (l mixLanguage) choose(t *testing.T, roles []string) int {
	t.Helper()
	w := newWorld(t)
	for name, text := range l.files {
		w.write("proj/"+name, text)
	}
	for i, role := range roles {
		w.write(fmt.Sprintf("role%d.sh", i+1), l.roles[role])
	}
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	w.write("proj/mine.txt", "not committed\n")
	before := w.picture()
	t.Setenv("XDG_CACHE_HOME", w.dir+"/cache")
	out, code := w.supervise("run", "--json", "--candidates", "4", "-m", "2", "--", "sh", "-c", ". "+w.dir+"/role$SUPERVISE_CANDIDATE.sh")
	chosen := 0
	for line := range strings.Lines(out) {
		var e struct {
			Type string
			Data struct {
				Ranking []struct {
					Candidate int
					Chosen    bool
				}
			}
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Type == "candidates_compared" && e.Data.Ranking[0].Chosen {
			chosen = e.Data.Ranking[0].Candidate
		}
	}
	if want := map[bool]int{true: 0, false: 4}[chosen > 0]; code != want {
		t.Errorf("%s: %q ended with status %d, want %d:\n%s", l.name, roles, code, want, out[max(0, len(out)-4000):])
	}
	if after := w.picture(); chosen == 0 && !cmp.Equal(before, after) {
		t.Errorf("%s: %q: nothing was chosen, and the tree is another one: %s", l.name, roles, cmp.Diff(before, after))
	}
	if left, err := os.ReadDir(w.dir + "/cache/supervise/candidates"); err == nil && len(left) > 0 {
		t.Errorf("%s: %q: trees are left: %v", l.name, roles, left)
	}
	return chosen
}
