// Package report has the form of results: what was measured, beside what was aimed at, for people
// and for programs.
package report
