// Package release tests test/release.sh: a release of the working tree is published to a module
// proxy of files, and what the documents show runs in an empty folder.
package release
