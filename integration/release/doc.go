// Command release makes a release of all modules of the repository, which have one version.
//
//	go run ./integration/release v0.1.0           shows what the release would change
//	go run ./integration/release -write v0.1.0    commits and tags it, and pushes nothing
//
// # What it changes
//
// Every module but the root requires the root at the version of the last release, and so it
// requires other modules of the repository. A release sets these requirements to its own version,
// writes the checksums of the required zips into each go.sum, makes go.work replace the new version
// with the working tree, and gives the changes in CHANGELOG.md a heading. All of that is one commit
// with a tag for each published module: v0.1.0, store/sqlstore/v0.1.0, sample-app/v0.1.0 and so on.
// A zip holds no file of another module, and no two modules require each other. So the commit can
// contain the checksums of its own zips, computed in the order of the requirements.
//
// # What it refuses
//
//   - uncommitted changes;
//   - a version that is not a semantic version of major version 0 or 1, that has a tag here or at a
//     remote, or that is not above the last one;
//   - a changelog without changes;
//   - a published module that requires one that is not, and modules that require each other;
//   - a shallow checkout.
package main
