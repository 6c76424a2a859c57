package gormplugintest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// How many instances start at once, and how often.
const (
	instancesAtOnce = 4
	startsAtOnce    = 5
)

// CheckAtOnce checks that instances which call [gormplugin.AutoMigrate] at once all start, on a
// table that other code has left and on an empty database.
func CheckAtOnce(t *testing.T, d Database) {
	t.Helper()
	worlds := make([]*schemaWorld, instancesAtOnce)
	for i := range worlds {
		worlds[i] = newSchemaWorld(t, d, gormplugin.Model(&Branch{}), gormplugin.Leaf(&Fruit{}, &Branch{}))
	}
	for n := range startsAtOnce {
		if w := worlds[0]; n%2 == 1 {
			w.must(w.db.AutoMigrate(&Branch{}, &Fruit{})) // GORM's own
			for i := range 50 {
				w.exec(fmt.Sprintf("INSERT INTO branches (tree_id, name, path) VALUES (1, '%d', '/%[1]d')", i))
			}
		}
		var starts sync.WaitGroup
		for _, w := range worlds {
			starts.Go(func() {
				if err := gormplugin.AutoMigrate(w.db); err != nil && !errors.Is(err, gormplugin.ErrUnsafeSchema) {
					t.Error(err)
				}
			})
		}
		starts.Wait()
		for _, w := range worlds {
			if found := w.findings(); slices.ContainsFunc(found, gormplugin.Finding.Adds) {
				t.Error(found)
			}
		}
		worlds[0].must(worlds[0].db.Migrator().DropTable("fruits", "branches"))
	}
}
