//go:build !race

package testserver

// underRace is set where the race detector watches.
const underRace = false
