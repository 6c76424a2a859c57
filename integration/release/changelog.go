package main

import (
	"errors"
	"strings"
)

// unreleased is the heading of the changes since the last release.
const unreleased = "## [Unreleased]\n"

// errNoChanges says that the changelog has nothing about the release.
var errNoChanges = errors.New("release: CHANGELOG.md has no changes under " + strings.TrimSpace(unreleased))

// dated gives the unreleased changes of a changelog the heading of a version.
func dated(changelog, version, date string) (string, error) {
	before, after, found := strings.Cut(changelog, unreleased)
	changes, _, _ := strings.Cut(after, "\n## ")
	if !found || strings.TrimSpace(changes) == "" {
		return "", errNoChanges
	}
	return before + unreleased + "\n## [" + strings.TrimPrefix(version, "v") + "] - " + date + "\n" + after, nil
}
