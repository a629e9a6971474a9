// Package mask replaces secrets in texts and streams: given secrets (mask.go), and texts with
// the known shape of a key (shapes.go), like AKIA and 16 letters or digits. The file
// shapes.txt lists the shapes.
package mask
