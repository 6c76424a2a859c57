//go:build race

package testserver

// UnderRace is set where the race detector watches. It slows SQLite, which is Go code here, down by
// more than a factor of ten.
const UnderRace = true
