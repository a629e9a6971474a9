package snapshot

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// mustTest lists what broke, or lost work in, other programs that keep snapshots next to git, and the tests which show that
// it does not here. Each of them compares the whole tree and git's state byte by byte, before and after.
var mustTest = []struct {
	failure string
	tests   []string
}{
	{"nested repository is kept as a link only, its contents are lost", []string{"TestRestoreBringsBackEverything", "TestNestedRepositoryInTheWayOfAFile"}},
	{"nested repository without commits makes git add refuse everything", []string{"TestRestoreBringsBackEverything"}},
	{"submodule with uncommitted work", []string{"TestDirtySubmodule", "TestSeparateGitDirAndSubmodule"}},
	{"required filter is missing", []string{"TestRequiredFilterMissing"}},
	{"name that git protects, such as git~1", []string{"TestRestoreBringsBackEverything"}},
	{"filters run the user's programs", []string{"TestPlantedProgramsNeverRun", "TestContentIsRaw"}},
	{"line ends are converted (autocrlf, text=auto), ident, working-tree-encoding", []string{"TestRestoreBringsBackEverything", "TestContentIsRaw", "TestRequiredFilterMissing"}},
	{"mode 0600, empty folders", []string{"TestRestoreBringsBackEverything"}},
	{"pipes, sockets, devices", []string{"TestPipesAreLeftAloneAndMissed", "TestMountPointsAndSpecialFiles"}},
	{"ignored .env is lost", []string{"TestRestoreBringsBackEverything"}},
	{".gitignore deleted, then node_modules is deleted with it", []string{"TestIgnoreRulesAreFixedAtTheStart", "TestRestoreBringsBackEverything"}},
	{"everything becomes ignored", []string{"TestIgnoreRulesAreFixedAtTheStart", "TestRestoreBringsBackEverything"}},
	{"objects vanish: reset, reflog expire, gc --prune=now", []string{"TestRestoreBringsBackEverything", "TestLinkedWorktree"}},
	{"objects of git-lfs and git-annex vanish with .git", []string{"TestLargeFilesOfGitComeBack", "TestLargeFilesOnAnotherDisk"}},
	{"objects are damaged: every file in sight is edited", []string{"TestObjectsOfGitRewritten"}},
	{".git is deleted, or another is made", []string{"TestRestoreBringsBackEverything", "TestRepositoryWithoutCommits", "TestFolderWithoutGit"}},
	{"the folder of the tree itself is deleted, moved or replaced", []string{"TestRootOfTheTreeIsGone", "TestRootReplaced"}},
	{"hooks run", []string{"TestPlantedProgramsNeverRun"}},
	{"sparse checkout, assume-unchanged, skip-worktree", []string{"TestSparseCheckoutAndFilesThatGitDoesNotLookAt"}},
	{"edit of the same size with a forged time", []string{"TestTreeDependsOnContentAlone", "TestForgedTimeWithoutTrustInChangeTimes"}},
	{"index.lock is held while a snapshot is taken", []string{"TestTakeWithHeldIndexLock"}},
	{"index.lock is held by a live process while a tree is restored", []string{"TestRestoreRefusesDuringLiveGit"}},
	{"repository without commits", []string{"TestRepositoryWithoutCommits"}},
	{"HEAD stays on the agent's branch", []string{"TestRestoreBringsBackEverything"}},
	{"file of 5 GB", []string{"TestFileOf5GB"}},
	{"unreadable file and folder, as a plain user", []string{"TestUnreadableEntries"}},
	{"name that is not UTF-8", []string{"TestRestoreBringsBackEverything"}},
	{"rename in letter case alone", []string{"TestCaseOnlyRename", "TestRestoreBringsBackEverything"}},
	{"hard links", []string{"TestHardLinks"}},
	{"linked worktree with its .git file", []string{"TestLinkedWorktree"}},
	{"killed before any step of a restore", []string{"TestRestoreKilledAtEveryStep", "TestKilledRestore", "TestInterruptedRestoreIsFinished"}},
	{"killed before any step of a snapshot", []string{"TestTakeKilledAtEveryStep", "TestOpenKilledAtEveryStep"}},
	{"disk full while a pack is written", []string{"TestDiskFullWhileAPackIsWritten"}},
	{"disk is filled", []string{"TestSomeOfTheDiskStaysFree", "TestNoRoomForASnapshot", "TestFilesOfTheStoreMayNotGrow"}},
	{"disk full while a tree is restored", []string{"TestDiskFullWhileATreeIsRestored"}},
	{"killed while snapshots are dropped", []string{"TestPruneKilledAtEveryStep"}},
	{"store grows without bound", []string{"TestPrune", "TestPruneObjectPools"}},
	{"rollback cannot be undone", []string{"TestUndo", "TestRollbackKilledAtEveryStep", "TestPruneKeepsTheWayBack"}},
	{"two processes at one store", []string{"TestTwoProcessesAtOneStore", "TestStoreIsForOneProcessAtATime"}},
	{"files are written while they are captured", []string{"TestAgentWritesDuringCapture"}},
	{"folder replaced by a link that leads out of the tree", []string{"TestParentReplacedByLinkToOutside"}},
	{"other file systems mounted into the tree", []string{"TestMountPointsAndSpecialFiles"}},
	{"path that is too long for the system", []string{"TestPathTooLongForTheSystem"}},
	{"state on another disk than the tree", []string{"TestDisplacedWithStoreOnAnotherDisk"}},
	{"home folder or whole file system as the tree", []string{"TestOpenRefuses"}},
}

// The list names tests that exist.
func TestMustTestListIsTrue(t *testing.T) {
	there := map[string]bool{}
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	for _, f := range files {
		src, err := os.ReadFile(f)
		must(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), f, src, parser.SkipObjectResolution)
		must(t, err)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				there[fn.Name.Name] = true
			}
		}
	}
	for _, m := range mustTest {
		for _, name := range m.tests {
			if !there[name] {
				t.Errorf("%s: there is no test %s", m.failure, name)
			}
		}
	}
}
