// Package scan makes the manifest of a working tree as it is now, and reads only what may have changed since the last one.
package scan
