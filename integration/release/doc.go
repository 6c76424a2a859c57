// Command release makes a release of all modules of the repository, which have one version.
//
//	go run ./integration/release v0.1.0           shows what the release would change
//	go run ./integration/release -write v0.1.0    commits and tags it, and pushes nothing
//
// # What it changes
//
// Every module but the root requires the root at the version of the last release. A release sets
// that requirement to its own version, writes the checksums of the root's zip into each go.sum,
// makes go.work replace the new version with the working tree, and gives the changes in
// CHANGELOG.md a heading. All of that is one commit with a tag for each published module: v0.1.0,
// cmd/pathlock/v0.1.0 and sample-app/v0.1.0. The root's zip holds no file of another module, so
// the commit can contain the checksum of its own root.
//
// # What it refuses
//
//   - uncommitted changes;
//   - a version that is not a semantic version of major version 0 or 1, that has a tag here or at a
//     remote, or that is not above the last one;
//   - a changelog without changes;
//   - a shallow checkout.
package main
