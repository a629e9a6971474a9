// Package pack is the object database of a snapshot store: a bare git directory whose packs this package writes and reads
// itself, so that plain git can read them too.
package pack
