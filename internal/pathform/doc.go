// Package pathform says how a column spells a materialised path. Programs keep "/a/b", "/0/1/7/",
// "1,7," or "a.b.c"; package pathlock, and all that plans, knows "/a/b" only, the path of
// [pathlock.Path.Column]. A [Form] turns the one into the other, where a column is read and where
// it is written.
//
// In every form, what is stored of a row, up to the next separator, is the beginning of what is
// stored of the rows below. So a subtree is a range of the column's index, and a move replaces a
// beginning by another one.
package pathform
