//go:build race

package testserver

// underRace is set where the race detector watches. It slows SQLite, which is Go code here, down by
// more than a factor of ten.
const underRace = true
