// Package report has the format of results: measurements next to targets, for people and for
// programs.
package report
