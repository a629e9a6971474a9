// Package snapshot takes, compares and restores snapshots of the entire working tree of a project, so that uncommitted,
// staged, untracked and stashed work survives whatever a coding agent does to it. Open opens the Store of a tree; Take and
// Restore are its main methods.
//
// A snapshot is a manifest, which lists every path with its type, permissions and content id, and the contents. The
// manifest is authoritative. The contents are in a private bare git directory, written by this package as ordinary packs,
// so that plain git can read them: git --git-dir=STORE/repo.git diff refs/iter/3 refs/iter/4. Contents are the raw bytes
// of the files; no filter, hook, signing or line-end conversion of the user ever runs.
//
// # What is captured
//
//   - Files and symbolic links that are tracked or not ignored, folders (also empty ones) and their permission bits.
//     The files of nested repositories and submodules are captured like all others.
//   - Ignored files whose name is precious (see Options.Precious), unless an entire ignored folder hides them; they count
//     as working files.
//   - Other ignored files that no tool can regenerate, up to Options.MaxIgnored in total. They are stored separately:
//     changes of them are not listed as a Change, and Info.Tree does not cover them. Only ignored folders that existed
//     when the store was created, with at most 20,000 names, are included.
//   - The state of git: .git of the tree and of nested repositories without the object database, that is HEAD, refs,
//     logs, index, stash, configuration, hooks and unfinished merges. Object files are copied, or hard-linked, into the
//     store, so that commits that were reset, dropped or pruned can be restored.
//
// The ignore rules are fixed when the store is created: the ignore files are copied into the store, and git uses these
// copies for later paths, even if .gitignore changes. A path that was tracked then remains captured. In a folder that is
// not a git repository only these names are ignored: node_modules, target, .venv, venv, __pycache__, .tox, .mypy_cache,
// .pytest_cache, .ruff_cache, .gradle, .DS_Store. A folder below the root of a repository counts as such a folder, since
// the state of the repository is outside it.
//
// Files over a size limit, sockets, pipes and devices, unreadable entries and mounted file systems are listed in
// Info.Skipped. They are never an error, and a restore never deletes them.
//
// # What a restore does
//
// Restore first takes a snapshot of the current tree, so that it can be reversed. It deletes only paths that this snapshot
// contains and that did not exist in the target, and never ignored or skipped files. Captured ignored files that another
// program has open are not replaced (Linux). Files in the way that are in no snapshot are moved away (see
// Restored.Displaced). Restore writes through os.Root to temporary names and renames them; files that are already correct
// are not touched. Rewritten files get the time of the restore as their modification time, so that build tools notice
// them. A journal lets the next Open finish the restore after a crash.
//
// Owners are restored as far as the user may change them, and hard links between files of the tree are restored. Extended
// attributes and access lists are not recorded. The objects in .git/lfs and .git/annex are kept as hard links and only
// restored if they are missing.
//
// # What is dropped
//
// Prune drops snapshots and frees their space: packs and git object files that no other snapshot needs. Displaced files
// are never deleted. Take leaves Options.MinFree of the disk free.
//
// # Linked worktrees
//
// In a linked worktree (.git is a file) the state of git is outside the tree and shared. The worktree's own folder (HEAD,
// index, logs) and the ref of its current branch are captured and restored. The ref is moved with git update-ref, which
// adds a line to its reflog. The shared folder is captured without the git folders of submodules; a restore recreates
// missing branches, tags, stash entries and the repository itself (Restored.Shared), and does not change existing ones.
//
// # Platforms
//
// Linux and macOS work alike, except that macOS cannot check whether a live process holds an index.lock and treats it as
// stale. On Windows there are no permission bits, inode numbers and change times: changes are recognized by size and
// modification time only, the store is not locked between processes, and case-only renames depend on the file system.
package snapshot
