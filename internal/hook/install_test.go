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

func request(c Client) InstallRequest {
	return InstallRequest{
		Client: c, Binary: "/opt/my tools/supervise", Socket: "/run/s.sock", Dir: "/state/hooks",
		Getenv: func(string) string { return "" }, ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
	}
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
	if why := InstallProblem(Claude, getenv, none); why != "" {
		t.Errorf("claude: %s", why)
	}
	if why := InstallProblem(OpenCode, getenv, none); why == "" {
		t.Error("opencode would hang")
	}
	there := func(path string) bool { return path == "/home/me/.config/opencode/node_modules/@opencode-ai/plugin" }
	if why := InstallProblem(OpenCode, getenv, there); why != "" {
		t.Errorf("opencode: %s", why)
	}
	if InstallProblem("aider", getenv, none) == "" {
		t.Error("aider has no hooks")
	}
}

// TestSettings checks that installing keeps the rest of a file, that a second installation
// changes nothing, and that removing restores the original text.
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
		s, err := LocateSettings(c, "/repo", "")
		if err != nil {
			t.Fatal(err)
		}
		r := InstallRequest{Client: c, Binary: "/usr/bin/supervise"}
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
			if events, err := s.InstalledEvents(c, twice); err != nil || len(events) != 4 {
				t.Errorf("%s, %s: has %v, %v", c, name, events, err)
			}
			left, found, err := s.Remove(c, twice)
			if err != nil || !found || string(left) != before {
				t.Errorf("%s, %s: %v %v, left:\n%s", c, name, found, err, left)
			}
			if _, found, _ := s.Remove(c, left); found {
				t.Errorf("%s, %s: found what was removed", c, name)
			}
		}
	}
}

// layouts are files of settings as people and programs write them.
var layouts = map[string]string{
	"empty": "", "blank lines": "\n\n", "no members": "{}", "no members, and a line end": "{}\n", "space inside": "{ }", "a line inside": "{\n}\n", "indented inside": "{\n  \n}",
	"two spaces": "{\n  \"a\": 1,\n  \"b\": [1, 2]\n}\n", "four spaces": "{\n    \"a\": {\n        \"b\": true\n    }\n}\n", "tabs": "{\n\t\"a\": 1\n}\n", "one space": "{\n \"a\": 1\n}\n",
	"no indent": "{\n\"a\": 1\n}\n", "one line": "{\"a\": 1}", "one line, dense": "{\"a\":1,\"b\":[]}\n", "one line, wide": "{ \"a\": 1 }\n",
	"no last line end": "{\n  \"a\": 1\n}", "lines at the end": "{\n  \"a\": 1\n}\n\n\n", "lines at the start": "\n\n{\n  \"a\": 1\n}\n",
	"CRLF": "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", "CRLF and tabs": "{\r\n\t\"a\": 1\r\n}\r\n",
	"hooks of one's own": "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./lint.sh\"}]}\n    ]\n  },\n  \"z\": null\n}\n",
	"no hooks":           "{\n  \"hooks\": {}\n}\n", "no hooks, with a line": "{\n  \"hooks\": {\n  }\n}\n", "no hook of an event": "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"BeforeTool\": [ ]\n  }\n}\n",
	"plugins": "{\"plugin\": []}\n", "a plugin": "{\n  \"plugin\": [\n    \"x\"\n  ]\n}\n", "flags off": "{\n  \"hooksConfig\": {\"enabled\": false},\n  \"tools\": {\"enableHooks\":false, \"x\": 1}\n}\n", "flags on": "{\n  \"hooksConfig\": {\n    \"enabled\": true\n  },\n  \"tools\": {}\n}\n",
	"comments": "// mine\n{\n  // of a\n  \"a\": 1, /* b */\n  \"b\": 2 // last\n  // end\n}\n// after\n", "a comma at the end": "{\n  \"a\": 1,\n  \"hooks\": {\"Stop\": [1,],},\n}\n", "comment alone": "{ // mine\n}",
	"numbers and escapes": "{\n  \"a\": 1.50e+3, \"\\u00e4\": \"\\u003c\\/\", \"a\": 2\n}\n", "marks": "{\n  \"ä\": \"€ <&>\"\n}\n",
}

// What is added can be taken away again, and then every byte is as it was.
func TestSettingsComeBack(t *testing.T) {
	for _, c := range []Client{Claude, Codex, Gemini, Qwen, OpenCode} {
		s, err := LocateSettings(c, "/repo", "")
		if err != nil {
			t.Fatal(err)
		}
		for name, before := range layouts {
			r := InstallRequest{Client: c, Binary: "/usr/bin/supervise"}
			text, err := s.Merge([]byte(before), r)
			if err != nil {
				t.Errorf("%s, %s: %v", c, name, err)
				continue
			}
			if events, err := s.InstalledEvents(c, text); err != nil || len(events) != len(Events(c)) {
				t.Errorf("%s, %s: has %v, %v:\n%s", c, name, events, err, text)
			}
			r.Binary = "/opt/supervise"
			if text, err = s.Merge(text, r); err != nil || bytes.Contains(text, []byte("/usr/bin/supervise")) {
				t.Errorf("%s, %s: installed again: %v\n%s", c, name, err, text)
			}
			left, found, err := s.Remove(c, text)
			if err != nil || !found || left == nil || string(left) != before {
				t.Errorf("%s, %s: found %v, %v; left %q, want %q; with hooks:\n%s", c, name, found, err, left, before, text)
			}
			if again, found, err := s.Remove(c, left); err != nil || found || string(again) != before {
				t.Errorf("%s, %s: removed again: found %v, %v, %q", c, name, found, err, again)
			}
		}
		text, err := s.Merge(nil, InstallRequest{Client: c, Binary: "/usr/bin/supervise"})
		if left, found, errLeft := s.Remove(c, text); err != nil || errLeft != nil || !found || left != nil {
			t.Errorf("%s: of a file that we made %q is left: %v %v", c, left, err, errLeft)
		}
		if _, err := s.Merge([]byte("{broken"), InstallRequest{Client: c}); err == nil || !strings.Contains(err.Error(), "not valid JSON") {
			t.Errorf("%s: broken: %v", c, err)
		}
	}
}

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
		s, err := LocateSettings(c.client, "/repo", c.home)
		if err != nil || s.Path != c.path || s.Plugin != c.plugin {
			t.Errorf("%s in %q: got %+v, %v", c.client, c.home, s, err)
		}
	}
	if _, err := LocateSettings("aider", "/repo", ""); err == nil {
		t.Error("aider has settings")
	}
	if PluginText(InstallRequest{Client: Claude}) != nil {
		t.Error("claude has a plugin")
	}
}
