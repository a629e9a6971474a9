// Package pack is the object database of a snapshot store: a bare git directory. The package writes and reads the packs
// itself, and plain git can read them too.
package pack
