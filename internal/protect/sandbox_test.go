//go:build unix

package protect

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/runner"
)

// homeWith makes a home folder with files, and makes it that of the test.
func homeWith(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	for _, name := range names {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestView(t *testing.T) {
	home := homeWith(t, ".ssh/id", ".claude/settings.json", ".claude.json", "code/proj/a.go", "code/other/b.go", "go/src/x.go", "go/bin/gopls", "go/pkg/mod/m", ".gitconfig", ".config/git/credentials",
		".npm-global/bin/claude", ".npm-global/lib/node_modules/c/cli.js", "opt/venv/bin/python", "opt/venv/pyvenv.cfg", ".local/bin/tool", ".local/share/keyrings/k",
		"state/supervise/proj-1/x", "hidden/t", "notes/n", "agents/claude/settings")
	at := Site{
		Root: filepath.Join(home, "code/proj"), State: filepath.Join(home, "state/supervise/proj-1"), Temp: filepath.Join(home, "state/supervise/proj-1/tmp"), Hidden: filepath.Join(home, "hidden"),
		Self: filepath.Join(home, "go/bin/gopls"), Args: []string{"claude"}, Needs: Needs{Home: []string{".claude/", ".claude.json", ".new/"}, Vars: []string{"CLAUDE_*"}},
		Env: []string{"PATH=" + strings.Join([]string{filepath.Join(home, ".npm-global/bin"), filepath.Join(home, "opt/venv/bin"), filepath.Join(home, ".local/bin"), "/usr/bin"}, ":"), "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "agents/claude"), "JAVA_HOME=" + home},
	}
	v := &viewBuilder{home: home, site: at, mounts: map[string]runner.Mount{}}
	v.build(t.Context(), Settings{Readable: []string{filepath.Join(home, "notes")}, Writable: []string{filepath.Join(home, ".cache")}})
	var got []string
	for _, p := range v.sortedMounts() {
		rel, err := filepath.Rel(home, p.Path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		switch {
		case p.From == "":
			rel = "- " + rel
		case p.Write:
			rel += " (w)"
		}
		got = append(got, rel)
	}
	want := []string{
		"- .", ".claude (w)", ".claude.json", ".config/git", ".config/git/credentials", ".gitconfig", ".local/bin", ".new (w)", ".npm-global", ".npm-global/bin", ".npm-global/bin/claude",
		"agents/claude (w)", "- code", "code/proj (w)", "go/bin", "go/bin/gopls", "go/pkg (w)", "- hidden", "notes", "opt/venv", "opt/venv/bin", "- state/supervise", "- state/supervise/proj-1",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("seen:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if p := v.mounts[filepath.Join(home, ".config/git/credentials")]; p.From != os.DevNull {
		t.Errorf("credentials in a folder that is shown: %+v", p)
	}
	if p := v.mounts["/tmp"]; p.From != at.Temp || !p.Write {
		t.Errorf("/tmp is %+v", p)
	}
}

func TestSecretsAreNotGivenInASandbox(t *testing.T) {
	env := []string{
		"PATH=/bin", "GOFLAGS=-v", "MY_API_KEY=x", "ANTHROPIC_API_KEY=y", "SSH_AUTH_SOCK=/s", "DBUS_SESSION_BUS_ADDRESS=u", "AWS_PROFILE=p", "GITHUB_TOKEN=t",
		"DB=postgres://me:word@host/db", "SITE=https://example.com/a:b@c", "HTTPS_PROXY=http://p", "TMUX=/t", "PGHOST=h", "PGO=1",
	}
	got := Settings{Sandbox: true}.ForAgent(env, []string{"ANTHROPIC_*"})
	if want := []string{"PATH=/bin", "GOFLAGS=-v", "ANTHROPIC_API_KEY=y", "SITE=https://example.com/a:b@c", "PGO=1"}; !slices.Equal(got, want) {
		t.Errorf("given %q, want %q", got, want)
	}
	if got := (Settings{Sandbox: true, AgentEnv: []string{"MY_*"}}).ForAgent(env, nil); !slices.Equal(got, []string{"PATH=/bin", "MY_API_KEY=x"}) {
		t.Errorf("given %q with a list", got)
	}
}

func TestNetwork(t *testing.T) {
	at := Site{
		Args: []string{"claude"}, Needs: Needs{Hosts: []string{"api.test"}, Vars: []string{"MODEL_*"}},
		Env: []string{"MODEL_BASE_URL=http://localhost:11434/v1", "MODEL_OTHER_URL=https://proxy.test", "MODEL_NAME=x", "HOMEPAGE=https://home.test"},
	}
	for _, tc := range []struct {
		set  []string
		want *runner.Network
	}{
		{nil, &runner.Network{Hosts: []string{"api.test", "localhost:11434", "proxy.test:443"}}},
		{[]string{"registry.test"}, &runner.Network{Hosts: []string{"api.test", "registry.test", "localhost:11434", "proxy.test:443"}}},
		{[]string{"none"}, &runner.Network{}},
		{[]string{"all"}, nil},
	} {
		got, err := Settings{Network: tc.set}.networkLimit(at)
		if err != nil || (got == nil) != (tc.want == nil) || got != nil && !slices.Equal(got.Hosts, tc.want.Hosts) {
			t.Errorf("%q: %+v, %v, want %+v", tc.set, got, err, tc.want)
		}
	}
	if _, err := (Settings{}).networkLimit(Site{Args: []string{"./agent.sh"}}); err == nil || !strings.Contains(err.Error(), "list its hosts in protect.network") {
		t.Errorf("an unknown agent: %v", err)
	}
}
