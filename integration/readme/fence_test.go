package readme

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A late writer, whose lock has ended and is another owner's, changes nothing.
func TestFence_ofThePage(t *testing.T) {
	db := open(t)
	for _, statement := range []string{"CREATE TABLE prices (id INTEGER PRIMARY KEY, price INTEGER, fence INTEGER)", "INSERT INTO prices VALUES (1, 0, 0)"} {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	locker := pathlock.New(memstore.New())
	plan, err := pathlock.NewTree("testplan", "1")
	if err != nil {
		t.Fatal(err)
	}
	request := pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}}
	late, err := locker.Acquire(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if err := late.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, err := locker.Acquire(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if err := publishPrice(t.Context(), db, next, 2); err != nil {
		t.Error(err)
	}
	if err := publishPrice(t.Context(), db, late, 1); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("the late write: %v, want ErrLost", err)
	}
	var price int
	if err := db.Table("prices").Select("price").Scan(&price).Error; err != nil || price != 2 {
		t.Errorf("the price is %d, %v, want 2", price, err)
	}
}
