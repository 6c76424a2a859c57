// Package txn knows when a transaction has really ended, and lets its path locks go only then.
//
// GORM has no callback for the end of a transaction that the caller began. So an [Owner] puts its
// own pool around the connections of a DB; what that begins is a [Transaction], which GORM has by a
// [Handle]. It ends by Commit or Rollback, by the end of its context, by an error after which the
// server has ended it already, or by being forgotten. [Explain] says what an error of the database
// means to a transaction and to the caller.
//
// Nothing here knows tables or trees.
package txn
