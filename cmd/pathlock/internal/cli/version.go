package cli

import (
	"fmt"
	"runtime/debug"
)

// version describes the program's version, source revision, Go version and platform.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "pathlock, unknown version"
	}
	text := "pathlock " + info.Main.Version
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" {
		text += ", revision " + revision
		if settings["vcs.modified"] == "true" {
			text += " with changes"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, info.GoVersion, settings["GOOS"], settings["GOARCH"])
}
