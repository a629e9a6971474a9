// Package pack is the object database of a snapshot store: a bare git directory. The package
// writes and reads the packs itself, and plain git can read them too.
//
// [Writer] (pack.go) writes new objects to a pack, [Objects] (objects.go) reads them,
// rewrite.go drops objects that are no longer needed, and check.go verifies all of them.
package pack
