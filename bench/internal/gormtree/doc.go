// Package gormtree writes a tree in a database with the GORM plugin and by hand, to compare the
// two.
package gormtree
