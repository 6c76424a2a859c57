//go:build !race

package integration

// underRace is set where the race detector watches.
const underRace = false
