// Package copying copies subtrees, by a number of statements that does not depend on the number of
// rows: one INSERT … SELECT that writes the new paths, and one UPDATE that finds the parents by
// them.
package copying
