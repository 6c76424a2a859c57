// Package importer turns a directory tree into a plan: directories become suites, each _test.go
// file a suite below its directory, and the test functions in it cases.
//
// An import can be interrupted at any point and run again. It keeps what is there, and adds only
// what is missing.
package importer
