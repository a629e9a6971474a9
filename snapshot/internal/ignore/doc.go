// Package ignore decides which paths are ignored. It uses copies of the ignore files made when the store was created, and
// asks git only about names that some pattern may match.
package ignore
