//go:build !race

package database_test

// underRace is set where the race detector watches.
const underRace = false
