package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		Example: "  supervise version",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.out, versionLine())
			return nil
		},
	}
}

// versionLine returns the version of supervise, of Go and of the system in one line.
func versionLine() string {
	return fmt.Sprintf("supervise %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the version of this build, with the commit if it is known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return v + " (" + s.Value[:12] + ")"
		}
	}
	return v
}
