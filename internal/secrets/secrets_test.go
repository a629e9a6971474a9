package secrets

import (
	"slices"
	"testing"
)

func TestSecretsAreFoundByName(t *testing.T) {
	dir := t.TempDir()
	for line, want := range map[string]string{
		"ANTHROPIC_API_KEY=sk-ant-0123456789": "sk-ant-0123456789",
		"GITHUB_TOKEN=ghp_0123456789":         "ghp_0123456789",
		"npm_config__authToken=abcd01234567":  "abcd01234567",
		"DB_PASSWORD=correcthorse":            "correcthorse",
		"AWS_SECRET_ACCESS_KEY=/wJalrXUt/EMI": "/wJalrXUt/EMI", // base64, and no such place
		"URL=https://u:pass%20word@h/x":       "pass word",
		"GOAUTH=netrc":                        "",
		"AUTH_MODE=required1":                 "required1",
		"SIGNING_KEY=required":                "",
		"SSH_AUTH_SOCK=" + dir + "/agent":     "",
		"KEY_FILE=~/.ssh/id_ed25519":          "",
		"KEYBOARD=qwerty-us-intl":             "",
		"MONKEYS=12345678-monkeys":            "12345678-monkeys",
		"PATH=/usr/bin":                       "",
		"COLORTERM=truecolor":                 "",
		"NOTHING":                             "",
	} {
		got := FromEnv([]string{line})
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].Value != want) {
			t.Errorf("%s: got %v, want %q", line, got, want)
		}
	}
	if names := FromEnv([]string{"A_KEY=01234567", "B=1", "C_TOKEN=01234567"}); !slices.Equal([]string{names[0].Name, names[1].Name}, []string{"A_KEY", "C_TOKEN"}) {
		t.Errorf("got %v", names)
	}
}
