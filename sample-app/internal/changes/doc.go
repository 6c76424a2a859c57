// Package changes tells those who watch a plan that it has changed, on whichever instance.
//
// Each plan's row counts the plan's changes. An instance adds one after its commits: at once after
// the first of them, and once for all that follow within [countEvery]. So no transaction of a
// change writes the counter, where all changes of a plan would wait for one row. An instance reads
// the counters every [lookEvery], of plans that somebody watches through it, and the locks of those
// plans from the lock store.
//
// The counter is a hint and no record. An instance that is killed between a commit and the count
// leaves that change untold until the next one.
package changes
