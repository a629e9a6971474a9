// Package scan makes the manifest of the current working tree. It reads only files that may have changed since the last
// manifest.
package scan
