//go:build !unix

package live

import "os"

// signals never receives anything on this system.
type signals struct{ resized, continued chan os.Signal }

// listenForSignals returns channels that never receive anything.
func listenForSignals() signals { return signals{} }

func (signals) close() {}

// isForeground reports whether this process may draw on a terminal. Systems without job control
// always allow it.
func isForeground(*os.File) bool { return true }
