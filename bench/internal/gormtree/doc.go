// Package gormtree has a tree in a database, written with the GORM plugin and by hand, so that the
// two can be compared.
package gormtree
