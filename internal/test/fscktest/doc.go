// Package fscktest is the test suite of package fsck for each database. testdata has every kind of
// damage, with the findings of a check and the outcome of a repair. A machine damages random trees,
// and compares both with a model, whether or not a repair ends early.
package fscktest

import "testing"

// Run runs the whole suite.
func Run(t *testing.T, database Database) {
	t.Run("Cases", func(t *testing.T) { testCases(t, database) })
	t.Run("Machine", func(t *testing.T) { testMachine(t, database) })
	t.Run("Types", func(t *testing.T) { testTypes(t, database) })
	t.Run("Marks", func(t *testing.T) { testMarks(t, database) })
}
