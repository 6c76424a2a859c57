// Package model holds the rows of a test-plan backend: plans, the suites that
// form each plan's tree, the cases in them, and the recycle bin.
//
// The JSON tags are those of the HTTP interface: a row is answered as it is.
package model
