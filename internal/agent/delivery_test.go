package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/runner"
)

// TestMain plays the agent as well: it prints its prompt as a hash.
func TestMain(m *testing.M) {
	runner.ShimMain()
	if os.Getenv("PLAY_AGENT") != "" {
		play()
		return
	}
	os.Exit(m.Run())
}

// play takes its prompt where its program takes it: from the last argument, from
// the file that the last argument names, or from standard input.
func play() {
	stdin, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	text := []byte(os.Args[len(os.Args)-1])
	switch os.Getenv("PLAY_AGENT") {
	case string(ByStdin):
		text = stdin
	case string(ByFile):
		if text, err = os.ReadFile(string(text)); err != nil {
			panic(err)
		}
	}
	fmt.Printf("%s %d\n", hash(text), len(stdin))
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// nasty are pieces that an intermediate program may interpret.
var nasty = []string{
	"plain words ", "\n", "\r\n", "\t", `"`, `'`, "`id`", "$(touch pwned)", "${HOME}", "$HOME", `\`, `\n`, "%s%n", "!!", "*", "~", "; rm -rf /", "| cat", "&", ">", "<<EOF\nEOF\n", "#",
	"{{prompt}}", "{{model}}", "{{prompt_file}}", "\x1b[31m", "\x1b]0;x\x07", "\x03", "\x04", "\x7f", "\xff", "\xc3", "\xed\xa0\x80", "ü", "—", "日本", "\u202e", "--help", "-p", "\x01",
}

// nastyPrompt is a text of that many bytes.
func nastyPrompt(r *rand.Rand, first string, size int) string {
	var b strings.Builder
	b.WriteString(first)
	for b.Len() < size {
		b.WriteString(nasty[r.IntN(len(nasty))])
	}
	return b.String()[:size]
}

// Delivery is how a prompt is passed to the agent.
type Delivery string

// The deliveries.
const (
	ByArgument Delivery = "argument"
	ByStdin    Delivery = "stdin"
	ByFile     Delivery = "file"
)

// Prompts arrive byte for byte, in each delivery, at a program that supervise's own
// runner starts.
func TestDelivery(t *testing.T) {
	n, size := 25, 100_000
	if testing.Short() {
		n = 3 // with the race detector each process takes ten times as long
	}
	for _, tt := range []struct {
		preset, first string
		by            Delivery
	}{{"claude", "P", ByArgument}, {"codex", "-", ByStdin}, {"aider", "P", ByFile}} {
		t.Run(string(tt.by), func(t *testing.T) {
			t.Parallel()
			p, err := ByName(tt.preset)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, uint64(len(tt.by))))
			dir := t.TempDir()
			for i := range n {
				text := nastyPrompt(r, tt.first, size)
				l := Launch{Prompt: text, File: filepath.Join(dir, "prompt.md"), Model: "m", Yolo: true}
				if err := os.WriteFile(l.File, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				inv := p.Command(l)
				fed := 0
				if tt.by == ByStdin {
					fed = size
				}
				if got, want := start(t, tt.by, inv), fmt.Sprintf("%s %d\n", hash([]byte(text)), fed); got != want {
					t.Fatalf("prompt %d by %s: %q arrived, want %q", i, tt.by, got, want)
				}
			}
		})
	}
}

// start runs the player in the place of the program.
func start(t *testing.T, by Delivery, inv Invocation) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	res, err := runner.Run(context.Background(), runner.Command{
		Args: append([]string{self}, inv.Args[1:]...), Env: append(slices.Clone(os.Environ()), "PLAY_AGENT="+string(by)),
		Stdin: strings.NewReader(inv.Stdin), Stdout: &out, Stderr: &out, NoCgroup: true,
	})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("status %d, %v: %s", res.ExitCode, err, out.String())
	}
	return out.String()
}
