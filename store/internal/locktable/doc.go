// Package locktable is the lock table of one tree, as stores in Go keep it: the queue of its
// requests, by the rule of internal/queue, with leases, fences and the errors that callers get.
//
// A table knows neither clocks nor goroutines: time comes with each use. A store in memory keeps
// its tables for as long as somebody holds or waits. A store that keeps its tickets elsewhere
// restores a table from them, uses it, and writes what has changed.
//
// In a restored table, a waiter's process may be another one, which may die. So each waiter has a
// lease, which its process's signs of life prolong. A grant that is handed over to it gets what is
// left of that lease.
package locktable
