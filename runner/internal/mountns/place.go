package mountns

// Place is what is at a path in the namespace of [View].
type Place struct {
	Path string
	// From is what is seen there; "" is an empty folder. One that does not exist leaves
	// the place as it is.
	From string
	// Write allows changes: of From, but where that is a regular file of a copy, in a place
	// that can be written; of an empty folder until the namespace is gone.
	Write bool
}
