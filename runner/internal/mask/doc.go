// Package mask replaces secrets in texts and streams: given ones, and texts with the known
// shape of a key.
package mask
