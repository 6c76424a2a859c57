//go:build race

package integration

// underRace is set where the race detector watches. It slows SQLite, which is Go code here, down by
// a factor of ten or more.
const underRace = true
