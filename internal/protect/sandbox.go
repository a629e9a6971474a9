package protect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/git"
	"supervise/internal/regexp"
	"supervise/runner"
)

// The values of Settings.Network that are not hosts.
const (
	NetworkAll  = "all"
	NetworkNone = "none"
)

// Needs is what the program of an agent needs in a sandbox: files below the home folder,
// hosts, and patterns of variables. See agent.Needs.
type Needs struct{ Home, Hosts, Vars []string }

// Site describes the environment of a sandbox.
type Site struct {
	Root   string   // the working tree
	State  string   // supervise's files
	Temp   string   // the agent's folder for temporary files
	Hidden string   // the folder of the hidden tests; "" for none
	Self   string   // the program supervise
	Args   []string // the agent's command
	Env    []string // the agent's environment
	Needs  Needs
}

// Below the home folder, programs and their configuration are visible; their caches are also
// writable.
var (
	toolPaths = append(framework.ProgramFolders,
		".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".inputrc", ".config/fish",
		".gitconfig", ".config/git", ".config/go", ".config/mise", ".editorconfig", ".tool-versions", ".asdfrc",
		".asdf", ".nvm", ".fnm", ".volta", ".nodenv", ".pyenv", ".rye", ".conda", "miniconda3", "anaconda3", "miniforge3", ".rbenv", ".rvm",
		".sdkman", ".jenv", ".goenv", "sdk", ".rustup", ".cargo/bin", ".cargo/env", ".cargo/config.toml", ".dotnet", ".ghcup", ".elan", ".juliaup", ".nix-profile", ".linuxbrew",
		"bin", "go/bin", ".local/bin", ".local/lib", ".local/share/mise", ".local/share/uv", ".local/share/pipx", ".local/share/pnpm", ".local/share/fnm", ".local/state/nix",
		".composer/vendor", ".config/composer/vendor", ".m2/wrapper",
	)
	cachePaths = append(framework.CacheFolders,
		"go/pkg", ".cargo/registry", ".cargo/git", ".npm", ".m2/repository", ".gradle", ".ivy2", ".sbt", ".nuget/packages", ".gem", ".bundle/cache", ".yarn", ".pub-cache",
		".konan", ".cabal", ".stack", ".hex", ".mix", ".cache/go-build", ".cache/golangci-lint", ".cache/goimports", ".cache/gopls", ".cache/staticcheck", ".cache/pip", ".cache/uv",
		".cache/pypoetry", ".cache/pre-commit", ".cache/yarn", ".cache/pnpm", ".cache/node", ".cache/node-gyp", ".cache/typescript",
		".cache/puppeteer", ".cache/bazel", ".cache/ccache", ".cache/sccache", ".cache/zig", ".cache/composer", ".cache/coursier", ".cache/rebar3", ".cache/ruff",
	)
	// toolVars and cacheVars are variables that name such folders in other places.
	toolVars  = append(framework.ProgramVariables, "GOROOT", "NVM_DIR", "FNM_DIR", "VOLTA_HOME", "PYENV_ROOT", "RBENV_ROOT", "ASDF_DIR", "ASDF_DATA_DIR", "SDKMAN_DIR", "RUSTUP_HOME", "JAVA_HOME", "DOTNET_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "ANDROID_HOME", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")
	cacheVars = append(framework.CacheVariables, "GOCACHE", "GOMODCACHE", "GOLANGCI_LINT_CACHE", "npm_config_cache", "PIP_CACHE_DIR", "UV_CACHE_DIR", "YARN_CACHE_FOLDER", "PNPM_HOME", "GRADLE_USER_HOME", "CCACHE_DIR", "SCCACHE_DIR", "NUGET_PACKAGES")
	// credentials below the home folder are hidden, unless protect.readable names them.
	credentialPaths = []string{
		".ssh", ".aws", ".azure", ".kube", ".docker", ".gnupg", ".netrc", ".git-credentials", ".config/git/credentials", ".config/gcloud", ".config/gh", ".config/hub", ".config/op",
		".local/share/keyrings", ".local/share/kwalletd", ".password-store", ".pypirc", ".npmrc", ".yarnrc.yml", ".pgpass", ".my.cnf", ".vault-token", ".terraform.d", ".terraformrc",
		".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".gem/credentials", ".config/fish/fish_history",
		".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".bash_history", ".zsh_history", ".local/share/fish",
	}
	// systemCredentials are the credentials of the machine, which root can read.
	systemCredentials = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private", "/etc/kubernetes", "/etc/rancher", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/spool/cron", "/var/mail", "/var/backups"}
	// runPaths is the needed part of /run. The rest has sockets of daemons that serve any
	// process.
	runPaths = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/current-system", "/run/opengl-driver"}
	// sharedDirs are folders that no project owns: what is next to a tree there stays visible.
	sharedDirs = []string{"/", "/usr", "/usr/local", "/opt", "/var", "/etc", "/lib", "/bin", "/sbin", "/dev", "/proc", "/sys", "/boot", "/nix"}
)

// secretVarRE matches the variables, with their values, that a sandbox removes unless the
// agent needs them. In its order they are: variables with a telling name (OPENAI_API_KEY=x),
// variables of programs that have keys (AWS_PROFILE=x, SSH_AUTH_SOCK=x), addresses with a
// password (DATABASE_URL=postgres://user:password@host), and proxies (HTTPS_PROXY=x).
var secretVarRE = regexp.MustCompile(`(?i)^[^=]*(KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE)[^=]*=|` +
	`^(SSH_|GPG_|DBUS_|AWS_|AZURE_|ARM_|GOOGLE_|GCLOUD_|CLOUDSDK_|KUBE|DOCKER_|VAULT_|PG(HOST|PORT|USER|DATABASE|SERVICE|PASSFILE|SSL\w*)=|MYSQL_|TMUX|STY=|WAYLAND_|DISPLAY=|XDG_RUNTIME_DIR=|VSCODE_|GIT_ASKPASS=)|` +
	`^[^=]+=[\w+.-]+://[^/@\s]*:[^/@\s]+@|^(HTTPS?_PROXY|ALL_PROXY|NO_PROXY)=`)

// matchesAny reports whether a name matches one of the patterns of [path.Match].
func matchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// withoutSecrets returns the variables of an environment that are not secret, and the secret
// ones whose names match needed.
func withoutSecrets(env, needed []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return secretVarRE.MatchString(kv) && !matchesAny(name, needed)
	})
}

// newSandbox returns the sandbox of the agent. It fails if the system cannot provide it. If
// only the network cannot be limited, why is a note about that.
func (s Settings) newSandbox(ctx context.Context, at Site) (sh Shield, why string, err error) {
	refuse := func(err error) (Shield, string, error) {
		return Shield{}, "", fmt.Errorf("%w: sandbox: %w", ErrUnavailable, err)
	}
	if s.User != "" {
		return refuse(errors.New("it cannot be combined with protect.user: remove one"))
	}

	home, err := os.UserHomeDir()
	if err != nil {
		return refuse(err)
	}
	v := &viewBuilder{home: home, site: at, mounts: map[string]runner.Mount{}}
	if real := realPath(home); contains(realPath(at.Root), real) || real == string(filepath.Separator) {
		return refuse(fmt.Errorf("the home folder %s is in the working tree, or the root of the system: work in a separate folder", home))
	}

	box := runner.Sandbox{}
	if box.Network, err = s.networkLimit(at); err != nil {
		return refuse(err)
	}
	v.build(ctx, s)
	box.Mounts = v.sortedMounts()
	sh.Sandbox = &box
	if s.Landlock {
		sh.Writable = s.WritablePaths(ctx, at.Root)
	}

	if err = os.MkdirAll(at.Temp, 0o700); err == nil {
		err = runner.CheckSandbox(ctx, box)
	}

	if err != nil && box.Network != nil {
		limited := box.Network
		if box.Network = nil; runner.CheckSandbox(ctx, box) == nil {
			return sh, fmt.Sprintf("the agent's network is not limited to %s: %v", strings.Join(limited.Hosts, ", "), err), nil
		}
	}
	if err != nil {
		return refuse(fmt.Errorf("%w; it needs Linux 5.12 with namespaces of mounts, as an ordinary user also of users: remove --sandbox, or run supervise in a container or a virtual machine", err))
	}
	return sh, "", nil
}

// networkLimit returns what the agent can connect to, nil for everything. That includes the
// hosts in the agent's own variables, like ANTHROPIC_BASE_URL.
func (s Settings) networkLimit(at Site) (*runner.Network, error) {
	switch {
	case slices.Equal(s.Network, []string{NetworkAll}):
		return nil, nil //nolint:nilnil // no limit
	case slices.Equal(s.Network, []string{NetworkNone}):
		return &runner.Network{}, nil
	}
	hosts := append(slices.Clone(at.Needs.Hosts), s.Network...)
	for _, kv := range at.Env {
		name, value, _ := strings.Cut(kv, "=")
		u, err := url.Parse(value)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || !matchesAny(name, at.Needs.Vars) {
			continue
		}
		port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
		hosts = append(hosts, net.JoinHostPort(u.Hostname(), port))
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("the service that %s talks to is unknown: list its hosts in protect.network, or set that to all or none", strings.Join(at.Args[:min(1, len(at.Args))], ""))
	}
	return &runner.Network{Hosts: hosts}, nil
}

// viewBuilder collects what the agent sees. The methods cover, show and hide change the view:
// cover hides a folder, show makes a path in a covered folder visible, and hide hides a path
// in a visible folder. The order of the calls matters.
type viewBuilder struct {
	home   string
	site   Site
	covers []string                // the covered folders
	mounts map[string]runner.Mount // by path
}

// sortedMounts returns the mounts by path, so that outer ones come first.
func (v *viewBuilder) sortedMounts() []runner.Mount {
	byPath := func(a, b runner.Mount) int { return cmp.Compare(a.Path, b.Path) }
	return slices.SortedFunc(maps.Values(v.mounts), byPath)
}

// realPath returns a path without symbolic links, or the cleaned path if it does not exist.
func realPath(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return filepath.Clean(p)
}

// build covers the homes, the parent folder of the tree, temporary folders and the sockets of
// daemons. Then it shows what the agent needs of them, and hides credentials.
func (v *viewBuilder) build(ctx context.Context, s Settings) {
	for _, dir := range []string{"/home", "/root", "/run", v.home, filepath.Dir(v.site.Root), v.site.State, v.site.Hidden} {
		v.cover(dir)
	}
	if base := filepath.Dir(v.site.State); filepath.Base(base) == "supervise" { // loops of other trees
		v.cover(base)
	}
	if home := realPath(v.home); v.mounts[home].Path != "" { // it exists
		v.mounts[home] = runner.Mount{Path: home, Write: true}
	}

	for _, dir := range []string{"/tmp", "/var/tmp", os.TempDir()} {
		v.mounts[realPath(dir)] = runner.Mount{Path: realPath(dir), From: v.site.Temp, Write: true}
		v.covers = append(v.covers, realPath(dir))
	}

	v.showAll(false, runPaths...)
	v.showTools()
	v.showAgent()
	v.showAll(false, append(slices.Clone(s.Readable), v.site.Self)...)
	v.show(v.site.Root, true)
	if dir, err := git.CommonDir(ctx, v.site.Root); err == nil {
		v.show(dir, true)
	}
	v.showAll(true, s.Writable...)

	for _, p := range credentialPaths {
		v.hide(filepath.Join(v.home, p), s)
	}
	keys, _ := filepath.Glob("/etc/ssh/ssh_host_*_key") // the pattern is valid
	for _, p := range append(keys, systemCredentials...) {
		v.hide(p, s)
	}
}

// cover hides a folder, except for what is shown in it. It ignores shared folders of the
// system, and those that do not exist.
func (v *viewBuilder) cover(dir string) {
	real := realPath(dir)
	if info, err := os.Stat(real); dir == "" || err != nil || !info.IsDir() || slices.Contains(sharedDirs, real) {
		return
	}
	v.mounts[real] = runner.Mount{Path: real}
	v.covers = append(v.covers, real)
}

// showAll makes files and folders visible, and writable if write is set.
func (v *viewBuilder) showAll(write bool, paths ...string) {
	for _, p := range paths {
		v.show(p, write)
	}
}

// show makes a file or folder visible, and writable if write is set. It does nothing for a
// path that does not exist, or that is visible and should not be writable. A link is shown as
// a link.
func (v *viewBuilder) show(p string, write bool) {
	real := realPath(p)
	for _, at := range []string{real, filepath.Clean(p)} {
		covered := slices.ContainsFunc(v.covers, func(dir string) bool { return contains(dir, at) && dir != at })
		if _, err := os.Lstat(real); err != nil || !covered && (!write || at != real) {
			continue
		}
		info, err := os.Lstat(at)
		link := err == nil && info.Mode()&os.ModeSymlink != 0
		v.mounts[at] = runner.Mount{Path: at, From: real, Write: (write || v.mounts[at].Write) && !link, Link: link}
	}
}

// hide hides a file or folder, unless it is not visible, or the settings name it as readable
// or writable.
func (v *viewBuilder) hide(p string, s Settings) {
	real := realPath(p)
	info, err := os.Stat(real)
	if err != nil || !v.isVisible(real) || slices.Contains(s.Readable, p) || slices.Contains(s.Writable, p) {
		return
	}
	if v.mounts[real] = (runner.Mount{Path: real, From: os.DevNull}); info.IsDir() {
		v.mounts[real] = runner.Mount{Path: real}
	}
}

// isVisible reports whether a path is visible. The nearest mount at or above it decides.
func (v *viewBuilder) isVisible(p string) bool {
	for dir := p; ; dir = filepath.Dir(dir) {
		if at, ok := v.mounts[dir]; ok {
			return at.From != ""
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// env returns a variable of the agent.
func (v *viewBuilder) env(name string) string { return runner.Getenv(v.site.Env, name) }

// homePath returns the path of a file or folder below the home folder. A variable like
// XDG_CONFIG_HOME may put it in another place.
func (v *viewBuilder) homePath(rel string) string {
	for prefix, name := range map[string]string{".config/": "XDG_CONFIG_HOME", ".cache/": "XDG_CACHE_HOME", ".local/share/": "XDG_DATA_HOME", ".local/state/": "XDG_STATE_HOME"} {
		if rest, ok := strings.CutPrefix(rel, prefix); ok && filepath.IsAbs(v.env(name)) {
			return filepath.Join(v.env(name), rest)
		}
	}
	return filepath.Join(v.home, rel)
}

// showTools shows the programs of the user, and their caches, which are writable.
func (v *viewBuilder) showTools() {
	for _, rel := range toolPaths {
		v.show(v.homePath(rel), false)
	}
	for _, rel := range cachePaths {
		v.show(v.homePath(rel), true)
	}
	for _, dir := range filepath.SplitList(v.env("PATH")) {
		v.showInstallation(dir)
	}
	for _, name := range toolVars {
		v.showNamed(v.env(name), false)
	}
	for _, name := range cacheVars {
		v.showNamed(v.env(name), true)
	}
	for _, dir := range filepath.SplitList(v.env("GOPATH")) {
		v.showNamed(filepath.Join(dir, "bin"), false)
		v.showNamed(filepath.Join(dir, "pkg"), true)
	}
	if dir := v.env("CARGO_HOME"); dir != "" {
		v.showNamed(filepath.Join(dir, "bin"), false)
		v.showNamed(filepath.Join(dir, "registry"), true)
		v.showNamed(filepath.Join(dir, "git"), true)
	}
}

// showNamed shows the absolute path that a variable names, unless it contains the home folder
// or the working tree.
func (v *viewBuilder) showNamed(p string, write bool) {
	if filepath.IsAbs(p) && !contains(realPath(p), realPath(v.home)) && !contains(realPath(p), realPath(v.site.Root)) {
		v.show(p, write)
	}
}

// showInstallation shows a folder of programs. If it belongs to an installation, such as
// PREFIX/bin next to PREFIX/lib, it shows all of PREFIX.
func (v *viewBuilder) showInstallation(dir string) {
	v.showNamed(dir, false)
	prefix := filepath.Dir(dir)
	if prefix == filepath.Join(v.home, ".local") || !slices.Contains([]string{"bin", "sbin", "shims"}, filepath.Base(dir)) {
		return
	}
	for _, sign := range []string{"lib", "libexec", "versions", "pyvenv.cfg"} {
		if _, err := os.Stat(filepath.Join(prefix, sign)); err == nil {
			v.showNamed(prefix, false)
			return
		}
	}
}

// showAgent shows the agent's program, its files below the home folder, and the paths that its
// variables name.
func (v *viewBuilder) showAgent() {
	if len(v.site.Args) > 0 {
		v.showProgram(v.site.Args[0])
	}
	for _, rel := range v.site.Needs.Home {
		p := v.homePath(rel)
		if strings.HasSuffix(rel, "/") {
			_ = os.MkdirAll(p, 0o700) // otherwise the agent would make one that is lost
		}
		v.show(p, true)
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() { // agents replace it, which a mount would prevent
			v.mounts[p] = runner.Mount{Path: p, From: p, Copy: true}
		}
	}
	for _, kv := range v.site.Env {
		if name, value, _ := strings.Cut(kv, "="); matchesAny(name, v.site.Needs.Vars) {
			v.showNamed(value, true)
		}
	}
}

// showProgram shows the program that a name finds in PATH, with the package that contains it.
func (v *viewBuilder) showProgram(name string) {
	for _, dir := range append([]string{""}, filepath.SplitList(v.env("PATH"))...) {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err != nil || info.IsDir() || !filepath.IsAbs(p) {
			continue
		}
		v.showNamed(p, false)
		real := realPath(p)
		v.showInstallation(filepath.Dir(real))
		if before, _, ok := strings.Cut(real, "/node_modules/"); ok {
			v.showNamed(filepath.Join(before, "node_modules"), false)
		}
		return
	}
}

// SandboxWith returns the sandbox with more files, which are read-only. It is nil if there is no
// sandbox.
func (sh Shield) SandboxWith(paths ...string) *runner.Sandbox {
	if sh.Sandbox == nil {
		return nil
	}
	box := *sh.Sandbox
	for _, p := range paths {
		at := runner.Mount{Path: filepath.Clean(p), From: realPath(p)}
		if at.From != at.Path {
			box.Mounts = append(slices.Clip(box.Mounts), runner.Mount{Path: at.From, From: at.From})
		}
		box.Mounts = append(slices.Clip(box.Mounts), at)
	}
	return &box
}
