package readme

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A late writer, whose lock has ended and is another owner's, changes nothing.
func TestFence_ofThePage(t *testing.T) {
	db := open(t)
	for _, statement := range []string{"CREATE TABLE prices (id INTEGER PRIMARY KEY, price INTEGER, fence INTEGER)", "INSERT INTO prices VALUES (1, 0, 0)"} {
		testerr.Must(t, db.Exec(statement).Error)
	}
	locker := pathlock.New(memstore.New())
	plan, err := pathlock.NewTree("testplan", "1")
	testerr.Must(t, err)
	request := pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}}
	late, err := locker.Acquire(t.Context(), request)
	testerr.Must(t, err)
	testerr.Must(t, late.Release(t.Context()))
	next, err := locker.Acquire(t.Context(), request)
	testerr.Must(t, err)
	testerr.None(t, publishPrice(t.Context(), db, next, 2))
	testerr.Is(t, "the late write", publishPrice(t.Context(), db, late, 1), pathlock.ErrLost)
	var price int
	if err := db.Table("prices").Select("price").Scan(&price).Error; err != nil || price != 2 {
		t.Errorf("the price is %d, %v, want 2", price, err)
	}
}
