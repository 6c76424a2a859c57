// Package treerow is the one answer to three questions about a row of a tree: has it a parent, is
// it live, and has it a name. The GORM plugin, its schema check and fsck all ask here, so that none
// of them takes for damage what another one writes.
//
// Each answer comes twice: as a function over plain values, as a driver returns them, and as an SQL
// condition over a column. The two agree for every value that a column of the given [Kind] can
// hold.
//
//   - No parent: NULL, and whatever the zero value of a parent field becomes in the database: 0,
//     the empty text, the nil UUID as text or as its own type, and bytes that are all zero.
//   - Live: the deletion mark is NULL or a zero value (0, false, the empty text). Any time marks a
//     deleted row, the zero one too, since GORM asks for NULL alone there.
//   - A name: a text that [pathlock.Path.Child] takes. NULL is none, and not the empty name of a
//     root row.
package treerow
