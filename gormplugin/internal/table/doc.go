// Package table knows the models that are registered, their rows, and where these are.
//
// A [Catalogue] has the guarded tables. A [Table] knows which columns say where a row is, and a
// [Node] is a row reduced to these. The package reads rows by their keys, everything above them
// ([Table.Rows]), and subtrees, which are ranges of the index over tree and path, all by statements
// of the plugin's own ([Direct]). A [Record] is a row that the caller hands to Create.
//
// Nothing here takes a path lock, or decides what a write does.
package table
