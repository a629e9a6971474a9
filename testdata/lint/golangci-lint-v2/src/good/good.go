// Package good is good.
package good

// One is one.
const One = 1
