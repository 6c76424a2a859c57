// Package hold takes path locks and row locks, and asserts what they are to keep.
//
// A [Keeper] takes the path locks that [Claims] ask for, before a transaction
// ([Keeper.AcquireEarly]) or within it. It row-locks chains, which are rows with everything above
// them, from the top down, and checks that each path is the parent's and the row's own name.
// [Settle] is the one place where plain reads are believed first, and locking ones then. A [Guard]
// does all this for a caller who writes by other means.
package hold
