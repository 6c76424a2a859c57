package cli

import (
	"runtime"
	"runtime/debug"
)

// version describes the program's version, which names the source revision of a build from a
// checkout, and the Go version.
func version() string {
	version := "unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	return "pathlock " + version + ", " + runtime.Version()
}
