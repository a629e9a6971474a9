//go:build !unix

package live

import "os"

type signals struct{ resized, continued chan os.Signal }

func listen() signals { return signals{} }

func (signals) close() {}

func foreground(*os.File) bool { return true }
