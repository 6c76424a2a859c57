// Package copying copies subtrees. The number of statements does not depend on the number of rows:
// one INSERT … SELECT writes the new paths, and one UPDATE finds the parents by them.
package copying
