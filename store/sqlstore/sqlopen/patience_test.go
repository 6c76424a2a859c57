package sqlopen_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// Processes that are the first to open a file do not keep each other out.
func TestManyOpenANewSQLiteFileAtOnce(t *testing.T) {
	for range 20 {
		url := "sqlite://" + filepath.Join(t.TempDir(), "locks.db")
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				store, err := sqlopen.Open(url)
				if err != nil {
					t.Error(err)
					return
				}
				if err := store.Create(t.Context()); err != nil {
					t.Error(err)
				}
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
}
