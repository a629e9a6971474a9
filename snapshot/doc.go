// Package snapshot takes, compares and restores the whole working tree of a project, so that uncommitted, staged,
// untracked and stashed work survives whatever a coding agent does to it.
//
// A snapshot is a manifest (every path with its type, permissions and content id) and the contents it names. The
// manifest is the truth. The contents lie in a private bare git directory, written by this package itself as ordinary
// packs, so that plain git can read them: git --git-dir=STORE/repo.git diff refs/iter/3 refs/iter/4. Contents are the
// raw bytes of the files; no filter, hook, signing or line-end conversion of the user's ever runs.
//
// # What is captured
//
//   - Files and symbolic links that are tracked or not ignored, folders (also empty ones) and their permission bits.
//     The files of nested repositories and submodules are captured like all others.
//   - Ignored files whose name is precious (see Options.Precious), unless a whole ignored folder hides them; they count
//     as working files.
//   - Other ignored files that no tool makes anew, up to Options.MaxIgnored in total, in a part of their own: no
//     difference in them is a Change, and Info.Tree does not cover them. Ignored folders are looked at only if they were
//     there when the store was made and hold at most 20,000 names.
//   - The state of git: .git of the tree and of nested repositories without the object database, that is HEAD, refs,
//     logs, index, stash, configuration, hooks and unfinished merges. Object files are copied, or hard-linked, into the
//     store, so that commits that were reset, dropped or pruned can come back.
//
// What is ignored is fixed when the store is made: the ignore files of that moment are copied into the store and git
// judges later paths by those copies, whatever happens to .gitignore in the meantime. A path that was tracked at that
// moment stays captured. In a folder that is not a git repository only the names in a short list are ignored:
// node_modules, target, .venv, venv, __pycache__, .tox, .mypy_cache, .pytest_cache, .ruff_cache, .gradle, .DS_Store.
// A folder below the root of a repository counts as such a folder, since the repository's own state lies outside it.
//
// Files over a size limit, sockets, pipes and devices, unreadable entries and other file systems mounted into the tree
// are named in Info.Skipped. They are never an error, and a restore never deletes them.
//
// # What a restore does
//
// Restore first takes the present, so it can be undone. It deletes only paths that the present snapshot holds and the
// target knew to be absent, and never anything ignored or skipped. Kept ignored files that another program has open are
// left as they are (Linux). What the present snapshot lacks and is in the way is
// moved out of the way (see Restored.Displaced). It writes through os.Root into temporary names and renames them; files
// that are already right are not touched. Rewritten files keep the time of the restore as their modification time, so
// build tools notice them. A journal makes the restore finish on the next Open after a crash.
//
// Owners, extended attributes and access lists are not recorded, and hard links between files of the tree come back as
// separate files. Of .git/lfs and .git/annex the objects are kept, as hard links, and given back when they are gone; they
// are left alone otherwise.
//
// # What is dropped
//
// Prune drops snapshots and gives their space back. Each pack and each object file of git goes that no other snapshot
// needs. Displaced files never go. A take leaves Options.MinFree of the disk free.
//
// # Linked worktrees
//
// In a linked worktree (.git is a file) the state of git lies outside the tree and is shared. This worktree's own folder
// (HEAD, index, logs) and the ref of its current branch are captured and restored. The ref is moved with git update-ref,
// which adds a line to the branch's own reflog. Of the shared folder all but the git folders of submodules is captured; a
// restore brings back branches, tags, entries of the stash, and the repository itself, if they are gone (Restored.Shared),
// and leaves alone what is there.
//
// # Platforms
//
// Linux and macOS work alike, but macOS cannot tell whether a live process holds an index.lock and takes it for stale.
// Windows has no permission bits, inode numbers and change times here: changes are recognised by size and modification
// time alone, two processes are not kept from using one store, and case-only renames depend on the file system.
package snapshot
