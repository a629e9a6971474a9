//go:build !unix

package live

import "os"

type signals struct{ resized, continued chan os.Signal }

func listenForSignals() signals { return signals{} }

func (signals) close() {}

// isForeground reports whether this process may draw. A background job would draw over what
// the user does meanwhile.
func isForeground(*os.File) bool { return true }
