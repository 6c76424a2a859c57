// Package hold takes path locks and row locks, and asserts what these protect.
//
// A [Keeper] takes the path locks that [Claims] ask for, before a transaction
// ([Keeper.AcquireEarly]) or within it. It row-locks [Chains], rows with everything above them, and
// checks that each path is the parent's path + "/" + the row's own name. [Settle] is the one place
// that believes plain reads first, and locking reads where those fail. A [Guard] does all this for
// callers who write by other means.
package hold
