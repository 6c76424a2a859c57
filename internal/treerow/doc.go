// Package treerow answers three questions about a row of a tree: does it have a parent, is it live,
// and does it have a name. The GORM plugin, its schema check and fsck all ask here, so that none of
// them takes for damage what another one writes.
//
// The first and the last are answered for a value, as a driver returns it, and the first two by an
// SQL condition on a column of a [Kind]. Where there are both, they agree.
//
//   - No parent: NULL, or whatever the zero value of a parent field becomes in the database. That is
//     0, the empty text, the nil UUID as text or as its own type, or bytes that are all zero.
//   - Live: the deletion mark is NULL or a zero value (0, false, the texts "" and "0"). Any time
//     marks a deleted row, even the zero time, since GORM asks for NULL alone there.
//   - A name: a text that [pathlock.Path.Child] accepts. NULL is no name. The empty name of a root
//     row is one.
package treerow
