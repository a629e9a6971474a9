// Package ignore decides which paths are ignored, as git would. It uses copies of the ignore
// files that were made when the store was created, so that a later change of them does not
// change what a snapshot contains.
//
// learn.go creates the rules of a new store, and own.go records which work was in no commit
// then. rules.go answers questions during a walk: names that no pattern can match (hints.go)
// need no answer of git, and a git check-ignore process decides about the others.
// regenerated.go decides which ignored files are captured nevertheless.
package ignore
