// Package scan makes the manifest of the current working tree. It reads only files that may
// have changed since the last manifest, the base.
//
// [Run] walks the tree (scan.go). For each name it decides to which part of the manifest it
// belongs, and whether it differs from the base; changed.go collects the differences and
// merges them with the base. Then content.go reads and stores the contents of changed files.
package scan
