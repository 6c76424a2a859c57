//go:build !race

package testserver

// UnderRace is set where the race detector watches.
const UnderRace = false
