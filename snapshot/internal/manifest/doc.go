// Package manifest defines the list of everything in one snapshot, encodes it as a file, and
// writes the git trees and commits made from it.
//
// manifest.go has the types, list.go searches the sorted lists, codec.go documents and
// implements the format of the file, and trees.go writes git objects.
package manifest
