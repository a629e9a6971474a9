package mountns

// Mount is the content of a path in the namespace of [ShowOnly].
type Mount struct {
	Path string
	// From is the file or folder that is visible there; "" is an empty folder. If From does
	// not exist, the path is not changed.
	From  string
	Write bool // allows changes of From, or of the empty folder
	Copy  bool // shows a copy of the file From, in a writable folder
	Link  bool // makes the path a symbolic link to From
}
