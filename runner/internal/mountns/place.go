package mountns

// Mount is what is at a path in the namespace of [View].
type Mount struct {
	Path string
	// From is what is seen there; "" is an empty folder. One that does not exist leaves
	// the place as it is.
	From  string
	Write bool // allows changes: of From, or of the empty folder until the namespace is gone
	Copy  bool // shows a copy of From, a file, in a folder that can be written
	Link  bool // makes the path a symbolic link to From
}
