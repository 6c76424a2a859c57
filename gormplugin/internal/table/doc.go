// Package table knows the models that are registered, their rows, and where these are.
//
// A [Catalogue] has the guarded tables. A [Table] knows which columns say where a row is; a [Node]
// is a row reduced to that. Reads of rows by their keys, of everything above them ([Table.Rows])
// and of subtrees, which are ranges of the index over tree and path, are here, as are the
// statements of the plugin's own ([Direct]) by which they are made. A [Record] is a row in the
// caller's hands.
//
// Nothing here takes a path lock, or decides what a write does.
package table
