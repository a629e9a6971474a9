// Package mask replaces secrets in text and in streams.
package mask
