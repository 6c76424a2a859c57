package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// One instance rebuilds the index, and the others do not.
func ExampleLocker_Mutex() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())

	mutex := locker.Mutex("search/rebuild")
	mutex.Note = "host-1"
	lock, err := mutex.TryLock(ctx)
	if err != nil {
		fmt.Println(err) // somebody else rebuilds it, or the store does not answer
		return
	}

	_, err = locker.Mutex("search/rebuild").TryLockFor(ctx, 10*time.Millisecond)
	var conflict *pathlock.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println(mutex.Name(), "is held by", conflict.Blocker.Note)
	}
	fmt.Println(lock.Release(ctx))
	// Output:
	// search/rebuild is held by host-1
	// <nil>
}

// balance is a row that refuses late writes: it keeps the fence of the latest write.
type balance struct {
	amount int
	fence  uint64
}

// write is UPDATE … SET amount = ?, fence = ? WHERE fence <= ?
func (b *balance) write(amount int, fence uint64) bool {
	if fence < b.fence {
		return false
	}
	b.amount, b.fence = amount, fence
	return true
}

// A process may sleep between its last look at the context and its write, past its lease. The fence
// makes such a write harmless.
func ExampleMutex_Lock() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	mutex := locker.Mutex("account/7")
	var row balance

	late, _ := mutex.Lock(ctx)
	if late.Context().Err() == nil {
		// The process sleeps here. Its lease ends, and somebody else is next.
		_ = late.Release(ctx)
		next, _ := mutex.Lock(ctx)
		fmt.Println(row.write(100, next.Fence()))
		_ = next.Release(ctx)

		fmt.Println(row.write(50, late.Fence()))
	}
	fmt.Println(row.amount)
	// Output:
	// true
	// false
	// 100
}

// Readers share, and a writer is alone. A reader becomes a writer under the context of its lock,
// and a writer lets readers in to what it has just written.
func ExampleLocker_RWMutex() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	settings := locker.RWMutex("settings")

	anna, _ := settings.RLock(ctx)
	ben, _ := settings.TryRLock(ctx)
	_, err := settings.TryLock(ctx)
	fmt.Println("a writer beside readers:", errors.Is(err, pathlock.ErrConflict))
	_ = ben.Release(ctx)

	writer, _ := settings.Lock(anna.Context())
	_, err = settings.TryRLockFor(ctx, time.Millisecond)
	fmt.Println("a reader beside a writer:", errors.Is(err, pathlock.ErrConflict))
	_ = anna.Release(ctx)

	fmt.Println("reads on:", writer.Downgrade(ctx)) // no writer gets in between
	_, err = settings.TryRLock(ctx)
	fmt.Println("a reader beside it:", err)
	_ = writer.Release(ctx)
	// Output:
	// a writer beside readers: true
	// a reader beside a writer: true
	// reads on: <nil>
	// a reader beside it: <nil>
}

// A job that hangs must not keep its name locked for good, though its process lives. It learns from
// its context that its time is over.
func ExampleMutex_Lock_maxHold() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	mutex := locker.Mutex("nightly")
	mutex.MaxHold = 10 * time.Millisecond

	hangs, _ := mutex.Lock(ctx)
	next, _ := mutex.Lock(ctx)
	fmt.Println(errors.Is(context.Cause(hangs.Context()), pathlock.ErrHeldTooLong))
	fmt.Println(errors.Is(hangs.Release(ctx), pathlock.ErrHeldTooLong))
	_ = next.Release(ctx)
	// Output:
	// true
	// true
}
