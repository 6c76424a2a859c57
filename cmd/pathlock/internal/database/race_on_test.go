//go:build race

package database_test

// underRace is set where the race detector watches. It slows SQLite, which is Go code here, down by
// more than a factor of ten: these tests do one thing at a time, and run without it.
const underRace = true
