package project

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

var (
	cargoTests = framework.Named("cargo")
	nextest    = framework.Named("nextest")
)

// nextestMentionPattern matches a file that names cargo-nextest.
var nextestMentionPattern = regexp.MustCompile(`\bnextest\b`)

// nextestConfig is a second configuration, by which the default profile writes JUnit XML.
const nextestConfig = "[profile.default.junit]\npath = \"" + ReportDir + "/nextest.xml\"\nstore-success-output = false\n"

// proposeRust recognizes a package or a workspace.
func proposeRust(f projectfs.Folder) proposal {
	var p proposal
	if f.HasSection("Cargo.toml", "workspace") {
		p.addTool("workspace", "Cargo.toml")
		p.covers = rustMembers(f)
	}
	p.require(f, "cargo", "install Rust with rustup")
	if f.Dir != "" && f.FirstMatching(rustTestPattern, f.Search(500, "*.rs")...) == "" { // only benchmarks, or an example
		return p
	}
	p.add(Check{Kind: Build, Name: "cargo build", Stderr: true, Command: []string{"cargo", "build", "--workspace", "--color=never"}})
	proposeRustTests(f, &p)
	p.add(rustLintCheck(f, &p))
	addRustFeatures(f, &p)
	return p
}

// rustMembers returns a function that reports whether a folder is a package of the workspace. Cargo
// adds path dependencies to the listed members, so every folder below counts that is neither
// excluded nor a workspace.
func rustMembers(f projectfs.Folder) func(string) bool {
	excluded := f.Table("Cargo.toml", "workspace").Strings("exclude")
	return func(dir string) bool {
		for _, e := range excluded {
			if e = strings.Trim(e, "/"); dir == e || strings.HasPrefix(dir, e+"/") {
				return false
			}
		}
		return !f.HasSection(dir+"/Cargo.toml", "workspace")
	}
}

// proposeRustTests proposes nextest if the project uses it and it is installed, else cargo's
// own tests.
func proposeRustTests(f projectfs.Folder, p *proposal) {
	uses := f.First(nextest.ConfigFiles...)
	if uses == "" {
		uses = f.FirstMatching(nextestMentionPattern, append(f.Glob(".github/workflows/*.y*ml"), "Makefile", "justfile", ".gitlab-ci.yml", "Makefile.toml", ".cargo/config.toml")...)
	}
	if uses != "" && !f.OnPath("cargo-nextest") {
		p.note("%s names nextest but it is not installed: cargo install --locked cargo-nextest; cargo test is used until then", uses)
		uses = ""
	}
	cover := f.OnPath("cargo-llvm-cov")
	if !cover {
		p.note("no coverage: cargo install cargo-llvm-cov, and rustup component add llvm-tools")
	}
	if uses == "" {
		p.addTool("cargo test", "Cargo.toml")
		c := rustCheck(cargoTests, cover, "test", "llvm-cov")
		c.Name, c.Stderr = "cargo test", true
		c.Inventory = withWords([]string{"cargo", "test", "--workspace", "--color=never"}, cargoTests.List.Args...)
		p.add(c)
		if cover {
			addRustDocTests(f, p)
		}
		return
	}

	p.addTool("nextest", uses)
	c := rustCheck(nextest, cover, "nextest run", "llvm-cov nextest")
	c.Files = map[string]string{".nextest.toml": nextestConfig}
	c.Inventory = slices.Concat([]string{"cargo", "nextest", "list", "--workspace"}, nextest.List.Args, []string{"--color=never"})
	// The project's configuration has precedence over the added one.
	if own := f.Table(".config/nextest.toml", "profile.default.junit").Strings("path"); len(own) == 1 {
		c.Reports[0] = "target/nextest/default/" + own[0]
	}
	p.add(c)
	addRustDocTests(f, p)
}

// addRustDocTests proposes the documentation tests, which neither nextest nor
// cargo-llvm-cov runs.
func addRustDocTests(f projectfs.Folder, p *proposal) {
	if hasRustLibrary(f) {
		p.add(Check{
			Kind: Test, Name: "cargo test --doc", Runner: cargoTests.Name, Stderr: true,
			Command: []string{"cargo", "test", "--workspace", "--doc", "--no-fail-fast", "--color=never"},
		})
	}
}

// rustCheck returns a check that runs tests. Without coverage its subcommand is plain, as in
// "test"; with coverage it is covered, as in "llvm-cov". cargo-llvm-cov takes cargo's options
// except for --no-fail-fast. It reports a failed run too, but then exits with 0.
func rustCheck(row *framework.Framework, cover bool, plain, covered string) Check {
	if !cover {
		return rowCheck(row, strings.Fields("cargo "+plain+" --workspace --no-fail-fast --color=never")...)
	}
	c := rowCheck(row, strings.Fields("cargo "+covered+" --workspace --color=never")...)
	c.cover(row)
	return c
}

func hasRustLibrary(f projectfs.Folder) bool {
	return f.First("src/lib.rs", "*/src/lib.rs", "*/*/src/lib.rs") != ""
}

// rustLintCheck returns the check by clippy, else by cargo check, of everything that the build and
// the tests compile. Without --keep-going, an error would hide findings of other crates at random.
func rustLintCheck(f projectfs.Folder, p *proposal) Check {
	words := withWords([]string{"--workspace"}, rustTargetOptions(f)...)
	if old := rustToolchainBefore(f, 74); old != "" {
		p.note("the toolchain is %s, and cargo has --keep-going since 1.74: after an error, the number of findings varies from run to run", old)
	} else {
		words = append(words, "--keep-going")
	}
	words = append(words, "--message-format=json")
	if f.OnPath("cargo-clippy") {
		p.addTool("clippy", "Cargo.toml")
		return Check{Kind: Lint, Name: "clippy", Command: withWords([]string{"cargo", "clippy"}, words...)}
	}
	p.note("clippy is not installed: rustup component add clippy; cargo check is used until then")
	return Check{Kind: Lint, Name: "cargo check", Command: withWords([]string{"cargo", "check"}, words...)}
}

// rustTargetOptions returns the options that select all targets. They leave out benchmarks if one
// needs a nightly toolchain and the project does not pin one. --lib fails without a library.
func rustTargetOptions(f projectfs.Folder) []string {
	benches := slices.DeleteFunc(f.Search(2000, "*.rs"), func(name string) bool { return !strings.Contains("/"+name, "/benches/") })
	if f.FirstMatching(rustNightlyPattern, benches...) == "" || strings.HasPrefix(rustToolchain(f), "nightly") {
		return []string{"--all-targets"}
	}
	targets := []string{"--bins", "--tests", "--examples"}
	if hasRustLibrary(f) {
		targets = append(targets, "--lib")
	}
	return targets
}

// rustTestPattern matches a test, #[test] or #[tokio::test], or the start of a documentation test,
// "/// ```". rustNightlyPattern matches #![feature(test)]. rustVersionPattern captures the minor
// version: 70 of 1.70.0.
var (
	rustTestPattern    = regexp.MustCompile("(?m)#\\[(?:\\w+::)*test\\b|^\\s*//[/!] ?```")
	rustNightlyPattern = regexp.MustCompile(`(?m)^\s*#!\[feature\(`)
	rustVersionPattern = regexp.MustCompile(`^1\.(\d+)`)
)

// rustToolchain returns the toolchain that the project pins, such as "1.70.0" or "nightly", "" if
// it pins none. An old rust-toolchain file contains only that name.
func rustToolchain(f projectfs.Folder) string {
	name := f.FirstAbove("rust-toolchain", "rust-toolchain.toml")
	if name == "" {
		return ""
	}
	if text := strings.TrimSpace(f.Read(name)); path.Ext(name) == "" && !strings.Contains(text, "=") {
		return text
	}
	toolchain, _ := f.TOML(name).Table("toolchain")
	return strings.Join(toolchain.Strings("channel"), "")
}

// rustToolchainBefore returns the toolchain that the project pins if it is older than 1.minor, else
// "".
func rustToolchainBefore(f projectfs.Folder, minor int) string {
	channel := rustToolchain(f)
	if n, err := strconv.Atoi(firstGroup(rustVersionPattern, channel)); err == nil && n < minor {
		return channel
	}
	return ""
}
