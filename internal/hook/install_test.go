package hook

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func request(c Client) Request {
	return Request{Client: c, Binary: "/opt/my tools/supervise", Socket: "/run/s.sock", Dir: "/state/hooks"}
}

// TestInstall holds how each client is started with hooks.
func TestInstall(t *testing.T) {
	for _, c := range Clients() {
		t.Run(string(c), func(t *testing.T) {
			in, err := Install(request(c))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, a := range in.Args {
				fmt.Fprintf(&got, "arg: %s\n", a)
			}
			for _, e := range in.Env {
				fmt.Fprintf(&got, "env: %s\n", e)
			}
			for _, name := range slices.Sorted(maps.Keys(in.Files)) {
				fmt.Fprintf(&got, "-- %s --\n%s", name, in.Files[name])
			}
			golden(t, filepath.Join("testdata", "install-"+string(c)+".golden"), got.Bytes())
		})
	}
}

func TestInstallKeepsWhatTheSystemSets(t *testing.T) {
	r := request(Gemini)
	r.Getenv = func(name string) string { return map[string]string{geminiEnv: "/etc/own.json"}[name] }
	r.ReadFile = func(path string) ([]byte, error) {
		if path != "/etc/own.json" {
			return nil, fs.ErrNotExist
		}
		return []byte(`{"telemetry":{"enabled":false}}`), nil
	}
	in, err := Install(r)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(in.Files["gemini-settings.json"]); !strings.Contains(text, `"telemetry"`) || !strings.Contains(text, "hook gemini BeforeTool") {
		t.Errorf("got %s", text)
	}
}

func TestInstallOpenCodeKeepsItsConfiguration(t *testing.T) {
	r := request(OpenCode)
	r.Getenv = func(string) string { return `{"model":"m","plugin":["file:///own.js"]}` }
	in, err := Install(r)
	if err != nil {
		t.Fatal(err)
	}
	want := opencodeEnv + `={"model":"m","plugin":["file:///own.js","file:///state/hooks/supervise-opencode.js"]}`
	if in.Env[0] != want {
		t.Errorf("got %s, want %s", in.Env[0], want)
	}
	r.Getenv = func(string) string { return `{` }
	if _, err := Install(r); err == nil || !strings.Contains(err.Error(), opencodeEnv) {
		t.Errorf("got %v, want an error that names %s", err, opencodeEnv)
	}
}

func TestReady(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"HOME": "/home/me"}[name] }
	none := func(string) bool { return false }
	if why := Ready(Claude, getenv, none); why != "" {
		t.Errorf("claude: %s", why)
	}
	if why := Ready(OpenCode, getenv, none); why == "" {
		t.Error("opencode would hang")
	}
	there := func(path string) bool { return path == "/home/me/.config/opencode/node_modules/@opencode-ai/plugin" }
	if why := Ready(OpenCode, getenv, there); why != "" {
		t.Errorf("opencode: %s", why)
	}
	if Ready("aider", getenv, none) == "" {
		t.Error("aider has no hooks")
	}
}

// TestSettings holds that installing keeps what is there, that doing it twice
// changes nothing, and that removing gives back what was.
func TestSettings(t *testing.T) {
	own := `{
  "permissions": {
    "allow": [
      "Bash(<x> && y)"
    ]
  },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "./lint.sh"
          }
        ]
      }
    ]
  },
  "plugin": [
    "file:///own.js"
  ],
  "a": 1.50
}
`
	for _, c := range []Client{Claude, Codex, Gemini, Qwen, OpenCode} {
		s, err := SettingsOf(c, "/repo", "")
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Client: c, Binary: "/usr/bin/supervise"}
		for name, before := range map[string]string{"nothing": "", "own": own} {
			once, err := s.Merge([]byte(before), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Binary = "/home/me/go/bin/supervise"
			moved, err := s.Merge(once, r)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := s.Merge(moved, r)
			if err != nil || !bytes.Equal(moved, twice) {
				t.Errorf("%s, %s: the second time changed something: %v\n%s", c, name, err, twice)
			}
			if events, err := s.Has(c, twice); err != nil || len(events) != 4 {
				t.Errorf("%s, %s: has %v, %v", c, name, events, err)
			}
			left, found, err := s.Remove(c, twice)
			if c == Gemini && before != "" { // its flags stay on for the hooks of the user's own
				left = []byte(strings.Replace(string(left), geminiOn, "\n}\n", 1))
			}
			if err != nil || !found || string(left) != before {
				t.Errorf("%s, %s: %v %v, left:\n%s", c, name, found, err, left)
			}
			if _, found, _ := s.Remove(c, left); found {
				t.Errorf("%s, %s: found what was removed", c, name)
			}
		}
		if _, err := s.Merge([]byte("{ // mine\n}"), r); err == nil || !strings.Contains(err.Error(), "no plain JSON") {
			t.Errorf("%s: comments: %v", c, err)
		}
	}
}

const geminiOn = `,
  "hooksConfig": {
    "enabled": true
  },
  "tools": {
    "enableHooks": true
  }
}
`

func TestSettingsPlaces(t *testing.T) {
	for _, c := range []struct {
		client       Client
		home         string
		path, plugin string
	}{
		{Claude, "", "/repo/.claude/settings.json", ""},
		{Codex, "/home/me", "/home/me/.codex/hooks.json", ""},
		{OpenCode, "", "/repo/opencode.json", "/repo/.opencode/supervise-hook.js"},
		{OpenCode, "/home/me", "/home/me/.config/opencode/opencode.json", "/home/me/.config/opencode/supervise-hook.js"},
		{Pi, "/home/me", "", "/home/me/.pi/agent/extensions/supervise-hook.ts"},
	} {
		s, err := SettingsOf(c.client, "/repo", c.home)
		if err != nil || s.Path != c.path || s.Plugin != c.plugin {
			t.Errorf("%s in %q: got %+v, %v", c.client, c.home, s, err)
		}
	}
	if _, err := SettingsOf("aider", "/repo", ""); err == nil {
		t.Error("aider has settings")
	}
	if PluginText(Request{Client: Claude}) != nil {
		t.Error("claude has a plugin")
	}
}
