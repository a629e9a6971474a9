//go:build linux

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"supervise/test/tools"
)

// plant puts everything into a repository by which git can be made to run a program. Each
// writes its name below $MARKS.
const plant = `set -e
mark() { printf '#!/bin/sh\necho "%s $*" >>"$MARKS/%s"\n%s\n' "$1" "$1" "${2-true}" >"../bin/mark-$1"; chmod +x "../bin/mark-$1"; }
mkdir -p ../bin; git init -q -b main .
printf 'module example.com/a\n\ngo 1.24\n' >go.mod
printf 'package a\n\nfunc A() int { return 1 }\n' >a.go; echo text >b.txt; echo binary >c.bin
printf '*.txt filter=evil diff=evil merge=evil\n*.go filter=proc diff=evil\n*.bin filter=lfs diff=ext\n' >.gitattributes
git init -q ../module; (cd ../module; echo sub >s.txt; echo '*.txt filter=insub' >.gitattributes; git add .; git commit -qm sub)
git add .; git -c protocol.file.allow=always submodule --quiet add ../module sub; git commit -qm one
echo more >>b.txt; printf '\nfunc B() int { return 2 }\n' >>a.go; git commit -qam two
git clone -q --bare . ../far.git; git remote add origin ../far.git; git remote add evil "ext::mark-ext %S"; git branch topic
for m in clean smudge textconv sub lfs; do mark $m cat; done
for m in process diff external fsmonitor alias ssh pager editor sequence gpg credential proxy upload receive pack merge alternate askpass ext hook; do mark $m; done
for h in applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change post-merge post-rewrite pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg reference-transaction post-update push-to-checkout sendemail-validate; do mark hook-$h; mkdir -p .git/evil; cp ../bin/mark-hook-$h .git/hooks/$h; cp ../bin/mark-hook-$h .git/evil/$h; done
set_() { git config "$1" "$2"; }
if [ -n "$HOOKS" ]; then set_ core.hooksPath .git/evil; fi
set_ filter.evil.clean mark-clean; set_ filter.evil.smudge mark-smudge; set_ filter.proc.process mark-process; set_ filter.proc.required true
set_ filter.lfs.clean mark-lfs; set_ filter.lfs.required true
set_ diff.evil.textconv mark-textconv; set_ diff.ext.command mark-diff; set_ diff.external mark-external
set_ core.fsmonitor mark-fsmonitor; set_ core.sshCommand mark-ssh; set_ core.pager mark-pager; set_ core.editor mark-editor; set_ sequence.editor mark-sequence
set_ core.askPass mark-askpass; set_ core.gitProxy mark-proxy; set_ core.alternateRefsCommand mark-alternate
set_ gpg.program mark-gpg; set_ gpg.ssh.program mark-gpg; set_ log.showSignature true; set_ commit.gpgSign true; set_ push.gpgSign if-asked
set_ credential.helper '!mark-credential'; set_ credential.https://example.com.helper '!mark-credential'; set_ uploadpack.packObjectsHook mark-pack
set_ merge.evil.driver mark-merge; set_ hook.evil.command mark-hook; set_ hook.evil.event reference-transaction
for v in status add diff log show rev-parse ls-files cat-file checkout fetch push config; do set_ "alias.$v" '!mark-alias'; set_ "pager.$v" mark-pager; done
set_ remote.origin.uploadpack mark-upload; set_ remote.origin.receivepack mark-receive; set_ remote.evil.promisor true; set_ remote.evil.partialCloneFilter blob:none
git config extensions.partialClone evil; set_ core.repositoryFormatVersion 1
set_ protocol.ext.allow always; set_ submodule.recurse true; set_ submodule.sub.update '!mark-sub'; set_ fetch.recurseSubmodules true; set_ status.submoduleSummary true; set_ diff.submodule log
(cd sub; git config filter.insub.clean mark-sub; git config core.fsmonitor mark-sub; touch -d 2001-01-01 s.txt)
printf '[filter "evil"]\n\tclean = mark-clean\n[filter "included"]\n\tclean = mark-clean\n' >.git/more; set_ include.path more
echo '*.md filter=included' >>.git/info/attributes; echo read >README.md
printf x >"$(printf 'evil\n::error::forged \342\200\256##[error]file.txt')"
printf '#!/bin/sh\nprintf "1..3\\nok 1 - a\\n$(test ! -e new.txt || echo not) ok 2 - ::error::forged \\342\\200\\256 $PLANTED\\n  ---\\n  message: \\"::error::said $PLANTED\\"\\n  ...\\nok 3 - b\\n"\n' >tap.sh
touch new.txt; sh tap.sh >../tap.txt; rm new.txt
echo changed >>b.txt; echo '// changed' >>a.go; echo changed >>c.bin; touch -d 2001-01-01 go.mod .gitattributes
`

// planted are commands of supervise, one after another in one repository.
func planted() [][]string {
	checks := []string{"--test-cmd", "sh tap.sh", "--build-cmd", "true", "--lint-cmd", "true"}
	with := func(args ...string) []string { return append(args, checks...) }
	return [][]string{
		{"doctor", "--no-run"},
		with("init"),
		with("measure"),
		{"audit", "--working-tree"},
		{"audit", "HEAD"},
		with("gate", "--base", "HEAD~1", "--offline"),
		with("gate", "--base", "nowhere", "--remote", "origin"),
		with("gate", "--base", "nowhere", "--remote", "evil"),
		with("mutants", "HEAD~1"),
		with("baseline", "--save", "../base.json"),
		append(with("run", "--max-iterations", "2", "--until", "never", "--agent-output", "lines"), "--", "sh", "-c", "echo more >>b.txt; echo new >new.txt; for f in evil*; do echo x >>\"$f\"; done; rm -f c.bin; cat tap.sh"),
		{"status"},
		{"diff", "0", "1", "--name-only"},
		{"compare", "latest"},
		{"diff", "0", "1", "--stat"},
		{"diff", "0", "1"},
		{"explain", "1"},
		{"report"},
		{"report", "--iteration", "1"},
		{"report", "--html", "-"},
		{"analytics"},
		{"decide"},
		{"select"},
		{"rollback", "1"},
		{"select", "--use", "0", "--reason", "::error::why", "--apply"},
		{"resume"},
		{"verify"},
		{"seal"},
		{"seal", "--restore"},
		{"parse", "../tap.txt"},
		{"record", "::error::x", "--iteration", "0", "--score", "80"},
		{"hook", "claude", "PreToolUse"},
		{"blocked", "--reason", "::error::x"},
		{"pause", "latest"},
		{"hint", "latest", "look at the parser"},
		{"abort", "latest"},
		{"approve", "latest", "--reason", "x"},
		{"reject", "latest"},
		{"watch", "--", "true"},
		{"replay", "HEAD~1..HEAD"},
		{"replay", "latest"},
		{"ack", "--list"},
		{"agents"},
		{"agents", "check", "claude"},
		{"hooks", "install", "claude"},
		{"hooks", "status"},
		{"clean"},
		{"select", "--cleanup"},
		with("benchmark", "--runs", "1"),
		with("baseline", "--push", "--remote", "origin"),
	}
}

// key has the shape of a key.
func key() string { return "ghp_" + strings.Repeat("a1B2", 9) }

// misleading returns what in a text for people is hidden, is a command to a CI system, or
// is a key; "" for nothing.
func misleading(text string) string {
	for line := range strings.Lines(text) {
		hidden := strings.ContainsFunc(line, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) })
		if bare := strings.TrimSpace(line); hidden || strings.HasPrefix(bare, "::") || strings.Contains(line, "##[") || strings.Contains(line, key()) {
			return line
		}
	}
	return ""
}

// TestEveryCommandIsPlanted: a new command belongs into the list, unless it reads no
// repository.
func TestEveryCommandIsPlanted(t *testing.T) {
	list := []string{"demo", "version", "completion", "help", "man", "exit-status", "demo-agent"}
	for _, args := range planted() {
		list = append(list, args[0])
	}
	for _, cmd := range (&app{output: outputTo(streams{in: os.Stdin, out: io.Discard, err: io.Discard})}).newRootCmd().Commands() {
		if !cmd.Hidden && !slices.Contains(list, cmd.Name()) {
			t.Errorf("%s is not tried in a hostile repository", cmd.Name())
		}
	}
}

// TestE2ENothingPlantedRuns plants every program that git knows to start in a repository's
// configuration, and runs the commands of supervise in it: none of them is started. The
// same is done with git itself, which starts them. Nor does what they print for people
// mislead, whatever files and tests are called.
func TestE2ENothingPlantedRuns(t *testing.T) {
	tools.Long(t)
	program, err := exec.LookPath("supervise")
	if err != nil {
		t.Fatal(err)
	}
	printed := ""
	for _, hooks := range []string{"", "1"} {
		home := t.TempDir()
		tree, marks := filepath.Join(home, "tree"), filepath.Join(home, "marks")
		env := append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home+"/state", "MARKS="+marks, "HOOKS="+hooks, "PATH="+home+"/bin:"+os.Getenv("PATH"),
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "PLANTED="+key(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "NO_COLOR=1")
		run := func(dir, name string, args ...string) string {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.WaitDelay = time.Second
			cmd.Dir, cmd.Env = dir, env
			out, _ := cmd.CombinedOutput() // many statuses are fine
			return string(out)
		}
		marked := func() (names []string) {
			entries, err := os.ReadDir(marks)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if os.RemoveAll(marks) != nil || os.Mkdir(marks, 0o700) != nil {
				t.Fatal("the marks stay")
			}
			return names
		}
		for _, dir := range []string{tree, marks} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if out := run(tree, "sh", "-c", plant+"touch planted"); !strings.Contains(run(tree, "ls"), "planted") {
			t.Fatalf("not planted: %s", out)
		}
		marked()
		for _, args := range planted() {
			if hooks != "" && !slices.Contains([]string{"measure", "audit", "gate", "baseline", "run", "rollback", "replay"}, args[0]) {
				continue // once is enough
			}
			out := run(tree, program, args...)
			printed += out
			if got := marked(); len(got) > 0 {
				t.Errorf("supervise %s (hooks path %q) started %v\n%s", strings.Join(args, " "), hooks, got, out)
			}
			if strings.Contains(out, "unknown command") || strings.Contains(out, "unknown flag") {
				t.Errorf("supervise %s: %s", args, out)
			}
			if patch := args[0] == "diff" && len(args) == 3; !patch && misleading(out) != "" {
				t.Errorf("supervise %s printed %q", args, misleading(out))
			}
		}
		out := run(tree, "sh", "-c", "git config --unset filter.proc.required; touch a.go b.txt; git status; git fetch origin; git fetch evil; git diff HEAD; git update-ref refs/heads/x HEAD")
		if got := marked(); len(got) < 7 {
			t.Errorf("git itself started only %v: the test shows nothing\n%s", got, out)
		}
	}
	for _, text := range []string{"<U+202E>", `\::error`, `##\[error]`, "[github-pat]"} {
		if !strings.Contains(printed, text) {
			t.Errorf("nothing printed %s", text)
		}
	}
}
