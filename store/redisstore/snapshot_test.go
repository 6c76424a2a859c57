package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// TestSnapshotOfManyMembers: a snapshot reads more members than one command in Lua can name, and
// shows those that have a record.
func TestSnapshotOfManyMembers(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	first, second := ask(tree, x("/a")), ask(tree, x("/b"))
	take(t, store, first)
	var strays []redis.Z
	for i := range 9000 {
		strays = append(strays, redis.Z{Score: float64(time.Now().Add(long).UnixMilli()), Member: fmt.Sprint("ostray ", i)})
	}
	if err := store.client.ZAdd(t.Context(), store.keys.of(tree)[1], strays...).Err(); err != nil {
		t.Fatal(err)
	}
	take(t, store, second)
	requireHeld(t, store, []pathlock.Acquisition{first, second}...)
}
