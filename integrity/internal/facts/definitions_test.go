package facts

import (
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// defining is what definitions finds.
var defining = regexp.MustCompile(`(?m)^\s*(?:(?:export|default|public|protected|private|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|const|unsafe|open|override|sealed|data|inline|virtual|func \([^)]*\))\s+)*` +
	`(?:(?:func|def|fn|fun|function\*?|class|struct|enum|trait|interface|type|module|record|object|macro_rules!|var|let|const|static|val|defmodule|defp?|defmacro)\s+(?:self\.)?([A-Za-z_$][\w$?!]*)|` +
	`([A-Za-z_$][\w$]*)\s*(?:=|:)\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>)|` +
	`(?:[\w<>\[\],.?]+\s+)?([A-Za-z_$][\w$]*)\s*\([^;]*\)\s*(?:throws [\w, .]+)?\{)`)

func definingNames(text []byte) []string {
	var out []string
	for _, m := range defining.FindAllSubmatch(text, -1) {
		for _, name := range m[1:] {
			if len(name) > 0 {
				out = append(out, string(name))
			}
		}
	}
	return out
}

func TestDefinitions(t *testing.T) {
	text := `export default class Shop {
  static total(a, b = sum(c)) { return 1 }
  const rate = (x) => x
}
def self.empty?
const limit = 5;
func (s *Shop) Open() { return; }
pub(crate) fn close() {}
void run(int a) throws IOException, Other { a; }
handler: async function () {}
call(1, 2);
`
	want := "Shop total rate empty? limit Open close run handler"
	if got := strings.Join(definitions([]byte(text)), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDefinitionsMatchTheRegexp(t *testing.T) {
	parts := strings.Split("export|default|static|async|pub|pub(crate)|pub(|const|func |func (|func (s *T) |def|fn|function|function*|class|macro_rules!|val|defp|self.|"+
		"name|x|$a|b?|c!|9z|é|=|:|=>|(|)|{|}|;|,|.|<|>|[|]|throws |throws IOException|throws| |  |\t|\n|\n\n|\r\n|\v|async |(a, b)|() {|)\n{|\xff|*|!|_", "|")
	random := rand.New(rand.NewSource(1))
	for range 6000 {
		var b strings.Builder
		for range random.Intn(40) {
			b.WriteString(parts[random.Intn(len(parts))])
			if random.Intn(3) > 0 {
				b.WriteByte(' ')
			}
		}
		sameDefinitions(t, []byte(b.String()))
	}
}

func sameDefinitions(t *testing.T, text []byte) {
	t.Helper()
	if got, want := definitions(text), definingNames(text); !slices.Equal(got, want) {
		t.Fatalf("%q: got %q, want %q", text, got, want)
	}
}

func FuzzDefinitions(f *testing.F) {
	f.Add([]byte("export const a = async (b) => {\n static int c(d) throws E {\n pub(crate) fn e\n"))
	f.Fuzz(func(t *testing.T, text []byte) { sameDefinitions(t, text) })
}
