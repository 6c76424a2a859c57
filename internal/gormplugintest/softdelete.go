package gormplugintest

import (
	"math/rand/v2"
	"testing"
)

// SoftDeleted is a way to mark deleted rows, of which there are more than GORM's own.
type SoftDeleted struct {
	Name string
	// Model has the fields ID, Tree, Parent, Name and Path of integers and texts, with the tags of
	// the plugin, and the mark.
	Model any
	// Live is the condition on rows that are not deleted, and Mark the column that it is about.
	Live, Mark string
	// Restored is what the mark is set to in order to bring a row back.
	Restored any
}

// RunSoftDeleted runs the state machine on rows that are marked in each of the ways.
func RunSoftDeleted(t *testing.T, d Database, ways []SoftDeleted) {
	t.Helper()
	for _, way := range ways {
		t.Run(way.Name, func(t *testing.T) {
			integer := func() any { return rand.Int64N(1<<50) + 1 }
			runMachine(t, d, shape{
				name: way.Name, model: way.Model, tree: integer, given: true, room: 500, depth: 256,
				live: way.Live, mark: way.Mark, restored: way.Restored, copies: true, keys: none, scarce: true,
			})
		})
	}
}
