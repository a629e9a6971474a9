package main

import (
	"bufio"
	"encoding/json"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"strings"
	"sync"

	"supervise/bench/tamper/internal/corpus"
)

// checker says whether text still parses: Go by the standard library, Python and
// JavaScript by one interpreter each that stays open, where they are installed.
// Other languages are checked for brackets alone.
type checker struct {
	mu     sync.Mutex
	python *asker
	node   *asker
}

type asker struct {
	in  *json.Encoder
	out *bufio.Reader
	end func()
}

const pythonAsk = `
import sys, json, warnings
warnings.simplefilter("ignore")
for line in sys.stdin:
    try:
        compile(json.loads(line), "x.py", "exec")
        print("ok", flush=True)
    except Exception:
        print("no", flush=True)
`

const nodeAsk = `
const vm = require('vm');
require('readline').createInterface({input: process.stdin}).on('line', l => {
  const text = JSON.parse(l);
  let ok = false;
  try { new vm.Script('(async function(){' + text.replace(/^#!.*/, '') + '\n})'); ok = true; } catch {}
  if (!ok) try { new vm.SourceTextModule(text); ok = true; } catch {}
  console.log(ok ? 'ok' : 'no');
});
`

func newChecker() *checker {
	return &checker{
		python: ask("python3", "-c", pythonAsk),
		node:   ask("node", "--no-warnings", "--experimental-vm-modules", "-e", nodeAsk),
	}
}

func ask(name string, args ...string) *asker {
	cmd := exec.Command(name, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	return &asker{json.NewEncoder(in), bufio.NewReader(out), func() { _ = in.Close(); _ = cmd.Wait() }}
}

func (c *checker) close() {
	for _, a := range []*asker{c.python, c.node} {
		if a != nil {
			a.end()
		}
	}
}

func (a *asker) parses(text []byte) bool {
	if a == nil {
		return true
	}
	if a.in.Encode(string(text)) != nil {
		return true
	}
	answer, err := a.out.ReadString('\n')
	return err == io.EOF || strings.TrimSpace(answer) == "ok"
}

// parses looks at one file.
func (c *checker) parses(file string, text []byte) bool {
	switch path.Ext(file) {
	case ".go":
		_, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		return err == nil
	case ".py":
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.python.parses(text)
	case ".js", ".mjs", ".cjs":
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.node.parses(text)
	case ".json":
		return json.Valid(text)
	}
	return true
}

// keeps says that text that parsed still does.
func (c *checker) keeps(base *corpus.Tree, edits []corpus.Edit) bool {
	for _, e := range edits {
		if e.Gone || c.parses(e.Path, e.After) {
			continue
		}
		before := base.Read(e.Path)
		if e.From != "" {
			before = base.Read(e.From)
		}
		if before == nil || c.parses(e.Path, before) {
			return false
		}
	}
	return true
}
