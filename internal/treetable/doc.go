// Package treetable says what a table of trees is: which columns it has, how they spell paths, and
// which values mean that a row has no parent or no name. The GORM plugin, fsck, doctor and the
// command line share its [Table].
//
// Programs keep "/a/b", "/0/1/7/", "1,7," or "a.b.c"; package pathlock, and all that plans, knows
// "/a/b" only, the path of [pathlock.Path.Column]. A [Form] turns the one into the other, where a
// column is read and where it is written. In every form, what is stored of a row, up to the next
// separator, is the beginning of what is stored of the rows below. So a subtree is a range of the
// column's index, and a move replaces one beginning with another.
//
// A row has no parent where its parent column is NULL, or holds whatever the zero value of a parent
// field becomes in the database: 0, the empty text, the nil UUID as text or as its own type, or
// bytes that are all zero. Package dialect has the same as conditions of SQL.
package treetable
