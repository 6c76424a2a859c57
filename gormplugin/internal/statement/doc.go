// Package statement is the frame around any write to a guarded table, from the first callback of
// GORM's chain to the last.
//
// [Frame.Begin] finds the table, has the [Kind] of the write survey what it needs and take the path
// locks, and begins a transaction where there is none. The [Writer] stands in the place of GORM's
// own callback: there the kind locks rows, asserts, and has the statement written ([Writing]).
// [Frame.End] says what an error means, ends the transaction, and runs the statement again if the
// database has given it up.
//
// What is particular to INSERT, UPDATE and DELETE is package write's.
package statement
