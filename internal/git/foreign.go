package git

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// programSettings are the settings by which a repository could make git, or its helpers, run a
// program, like filter.lfs.clean. off is the value that disables the setting.
var programSettings = []struct {
	key *regexp.Regexp
	off string
}{
	{regexp.MustCompile(`^filter\..*\.(clean|smudge|process)$`), ""},
	{regexp.MustCompile(`^filter\..*\.required$`), "false"},
	{regexp.MustCompile(`^diff\.(.*\.)?(textconv|command|external)$`), ""},
	{regexp.MustCompile(`^merge\..*\.driver$`), ""},
	{regexp.MustCompile(`^core\.sshcommand$`), "ssh"},
	{regexp.MustCompile(`^core\.alternaterefscommand$`), "true"},
	{regexp.MustCompile(`^core\.(askpass|editor|pager)$`), ""},
	{regexp.MustCompile(`^(sequence\.editor|interactive\.difffilter|uploadpack\.packobjectshook|pager\..*)$`), ""},
	{regexp.MustCompile(`^gpg\.(.*\.)?(program|defaultkeycommand)$`), ""},
	{regexp.MustCompile(`^(hook|tar|trailer)\..*\.(command|cmd)$`), ""},
	{regexp.MustCompile(`^submodule\..*\.update$`), "none"},
	{regexp.MustCompile(`^lfs\.(extension\..*\.(clean|smudge)|customtransfer\..*\.path|(.*\.)?standalonetransferagent)$`), ""},
	{credentialHelperRE, ""},
	{remoteProgramRE, ""},
	{gitProxyRE, ""},
}

var (
	credentialHelperRE = regexp.MustCompile(`^credential\.(.*\.)?helper$`)
	remoteProgramRE    = regexp.MustCompile(`^remote\..*\.(uploadpack|receivepack)$`)
	gitProxyRE         = regexp.MustCompile(`^core\.gitproxy$`)
)

// overrides disable the programs that a repository configures.
type overrides struct {
	options            []string // options of git that disable the programs
	disabledKeys       []string // the keys of the disabled settings, sorted
	namesRemoteProgram bool     // the repository names programs for the other side of a connection
	namesProxy         bool     // the repository names a program as a proxy
}

// remoteOptions returns options by which a command starts git's own program on the remote side.
// They take precedence over the configuration.
func (s overrides) remoteOptions(verb string) []string {
	switch {
	case !s.namesRemoteProgram:
		return nil
	case verb == "push":
		return []string{"--receive-pack=git-receive-pack"}
	case slices.Contains(remoteCommands, verb):
		return []string{"--upload-pack=git-upload-pack"}
	}
	return nil
}

// setting is a value in the configuration. option is the text that sets it with git -c.
type setting struct {
	key, override string
	trusted       bool // set by the user, the system or the environment, not by the repository
}

// overrides returns what disables the programs that the repository configures. It asks git for
// the configuration, which starts none of them.
func (c Command) overrides(ctx context.Context, options, env []string) (s overrides, err error) {
	list := exec.CommandContext(ctx, "git", append(options, "config", "--list", "--show-scope", "-z")...)
	list.Dir, list.Env = c.Dir, env
	var out, said bytes.Buffer
	list.Stdout, list.Stderr = &out, &said
	if err := list.Run(); err != nil {
		return s, CommandError(c.Dir, "config", err, said.String())
	}

	all := parseConfig(out.String())
	off := map[string]string{}
	for _, l := range all {
		if v, runs := neutralValue(l.key); runs && !l.trusted {
			off[l.key] = v
		}
	}

	for key, value := range off {
		s.disabledKeys = append(s.disabledKeys, key)
		s.namesRemoteProgram, s.namesProxy = s.namesRemoteProgram || remoteProgramRE.MatchString(key), s.namesProxy || gitProxyRE.MatchString(key)
		switch {
		case remoteProgramRE.MatchString(key) || gitProxyRE.MatchString(key):
			continue
		case strings.Contains(key, "="):
			return s, fmt.Errorf("the git repository in %s sets %q, which cannot be switched off: remove it from its configuration", c.Dir, key)
		}
		s.options = append(s.options, "-c", key+"="+value)
	}

	slices.Sort(s.disabledKeys)
	return s.restoreTrusted(all, off), nil
}

// restoreTrusted adds the values that the user and the system have set for the disabled keys.
func (s overrides) restoreTrusted(all []setting, off map[string]string) overrides {
	helpers := slices.ContainsFunc(s.disabledKeys, credentialHelperRE.MatchString)
	if helpers {
		s.options = append(s.options, "-c", "credential.helper=")
	}
	for _, l := range all {
		_, was := off[l.key]
		if l.trusted && (was || helpers && credentialHelperRE.MatchString(l.key)) {
			s.options = append(s.options, "-c", l.override)
		}
	}
	return s
}

// neutralValue returns the value that disables a setting. runs is false if the setting does
// not make git run a program.
func neutralValue(key string) (value string, runs bool) {
	for _, p := range programSettings {
		if p.key.MatchString(key) {
			return p.off, true
		}
	}
	return "", false
}

// parseConfig reads what git config --list --show-scope -z prints: scope, zero byte, key, line
// feed, value, zero byte.
func parseConfig(out string) (all []setting) {
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, set := strings.Cut(fields[i+1], "\n")
		option := key
		if set {
			option += "=" + value
		}
		all = append(all, setting{key, option, slices.Contains([]string{"system", "global", "command"}, fields[i])})
	}
	return all
}
