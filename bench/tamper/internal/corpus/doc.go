// Package corpus reads real repositories: their commits, their trees, and the tests in their files.
package corpus
