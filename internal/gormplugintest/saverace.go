package gormplugintest

import (
	"errors"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/offstore"
)

// checkSaveRaces has several save a row at once that they have read before it was deleted for good,
// under a lock store that grants everything. As with GORM alone, the first brings the row back; the
// others find it there.
func checkSaveRaces(t *testing.T, d Database) {
	const savers = 6
	w := newWorld(t, d, settings{store: offstore.New()})
	for try := range max(d.tries(t)/4, 5) {
		read := w.build("/a")
		w.must(w.db.Unscoped().Delete(&Suite{ID: read.ID}).Error)
		errs := make([]error, savers)
		var start, done sync.WaitGroup
		start.Add(1)
		for i := range savers {
			done.Go(func() {
				saved := *read
				start.Wait()
				errs[i] = w.db.Save(&saved).Error
			})
		}
		start.Done()
		done.Wait()
		for _, err := range errs {
			if err != nil && !errors.Is(err, gormplugin.ErrRetry) {
				t.Fatalf("try %d: got the error %v", try, err)
			}
		}
		if paths := w.paths(); paths != "/a" {
			t.Fatalf("try %d: the tree is %s", try, paths)
		}
	}
}
