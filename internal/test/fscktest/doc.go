// Package fscktest is the test suite of package fsck for each database. Every kind of damage stands
// in testdata, with what a check finds and what a repair makes of it. A machine damages random
// trees, and compares what a check finds with a model, and what repairs make of it, ended early or
// not.
package fscktest

import "testing"

// Run runs the whole suite.
func Run(t *testing.T, database Database) {
	t.Run("Cases", func(t *testing.T) { testCases(t, database) })
	t.Run("Machine", func(t *testing.T) { testMachine(t, database) })
	t.Run("Types", func(t *testing.T) { testTypes(t, database) })
	t.Run("Marks", func(t *testing.T) { testMarks(t, database) })
}
