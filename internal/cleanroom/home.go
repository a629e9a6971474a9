package cleanroom

import (
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/framework"
	"supervise/runner"
)

// toolFolders are the entries of a home folder in which tool chains keep programs, packages and
// caches. Checks in a clean copy use those of the user; what is in them is trusted.
var toolFolders = append(strings.Fields(`.asdf .bun .cabal .cargo/bin .cargo/env .cargo/git .cargo/registry .choosenim .composer .config/composer .cpan .deno .dotnet .elan .gem .ghcup .gradle
	.hex .ivy2 .jdks .juliaup .julia .konan .local/bin .local/lib .local/pipx .local/share/fnm .local/share/gem .local/share/mise .local/share/pnpm .local/share/uv .local/share/virtualenvs .luarocks
	.m2 .mint .mix .nimble .npm .nuget .nvm .opam .pdm .perl5 .phpenv .pub-cache .pyenv .rbenv .rustup .rvm .sbt .sdkman .stack .swiftpm .terraform.d .volta .yarn .zvm R go miniconda3 anaconda3 perl5
	.cache/bazel .cache/bazelisk .cache/coursier .cache/deno .cache/go-build .cache/node .cache/pip .cache/pnpm .cache/pypoetry .cache/uv .cache/yarn .cache/zig
	Library/Caches/go-build Library/Caches/pip Library/Python Library/pnpm`), framework.BrowserFolders...)

// makeHome makes a home folder in dir that has only the folders of tool chains, as links to those
// of the user, and returns the variables that make programs use it.
func makeHome(dir string, env []string) ([]string, error) {
	userHome := runner.Getenv(env, "HOME")
	if userHome == "" {
		return nil, nil
	}
	for _, name := range toolFolders {
		from, to := filepath.Join(userHome, name), filepath.Join(dir, name)
		if _, err := os.Stat(from); err != nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, err
		}
		if err := os.Symlink(from, to); err != nil {
			return nil, err
		}
	}
	out := []string{"HOME=" + dir}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		if value := runner.Getenv(env, name); value != "" && isBelow(userHome, value) {
			rel, _ := filepath.Rel(userHome, value) // it is below
			out = append(out, name+"="+filepath.Join(dir, rel))
		}
	}
	return out, nil
}

// isBelow reports whether a path is in a folder, or is it.
func isBelow(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
