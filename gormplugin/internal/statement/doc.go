// Package statement is the frame around every write to a guarded table, from the first callback of
// GORM's chain to the last.
//
// [Frame.Begin] finds the table, has the [Kind] of the write survey what it needs and take the path
// locks, and begins a transaction where there is none. The [Writer] takes the place of GORM's own
// callback: there the Kind locks rows, asserts, and has GORM write the statement ([Writing]).
// [Frame.End] explains an error, ends the transaction, and runs the statement again if the database
// has given it up.
//
// Package write has what is particular to INSERT, UPDATE and DELETE.
package statement
