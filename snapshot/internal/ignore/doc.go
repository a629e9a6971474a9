// Package ignore decides which paths are ignored, by copies of the ignore files made when the store was made. It asks git
// only where no pattern can rule a name out.
package ignore
