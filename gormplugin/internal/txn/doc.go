// Package txn knows when a transaction has really ended, and releases its path locks only then.
//
// GORM has no callback for the end of a transaction that the caller began. So an [Owner] puts its
// own pool around the connections of a DB. The pool begins a [Transaction], to which GORM has a
// [Handle]. A transaction ends
//
//   - by Commit or Rollback,
//   - with its context,
//   - by an error after which the server has ended it already, or
//   - when nobody has its handle.
//
// [Persist] and [Retry] try again what the database has given up in favour of others. A [Memento]
// restores the values that a caller handed over, so that each try begins with what the first one
// began with.
//
// [Explain] says what an error of the database means to a transaction and to the caller.
//
// Nothing here knows tables or trees.
package txn
