package pathlock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// exclusive is what a tree's holders have, without intentions.
func exclusive(t *testing.T, locker *pathlock.Locker, tree pathlock.Tree) (held []string) {
	t.Helper()
	snapshot, err := locker.Snapshot(context.Background(), tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, hold := range snapshot.Holders {
		for _, c := range hold.Claims {
			if c.Mode == pathlock.ModeX {
				held = append(held, c.String())
			}
		}
	}
	slices.Sort(held)
	return held
}

// attachedHold is a hold on /dir1 that has been attached.
func attachedHold(t *testing.T, locker *pathlock.Locker) (pathlock.Tree, pathlock.Token, *pathlock.Lock) {
	t.Helper()
	tree, token, err := editing(locker)
	if err != nil {
		t.Fatal(err)
	}
	hold, err := locker.Attach(t.Context(), token, pathlock.WithoutRenewal())
	if err != nil {
		t.Fatal(err)
	}
	return tree, token, hold
}

func under(t *testing.T, locker *pathlock.Locker, hold *pathlock.Lock, path string) *pathlock.Lock {
	t.Helper()
	lock, err := locker.Acquire(hold.Context(), pathlock.Request{
		Tree: hold.Tree(), Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}, Wait: pathlock.NoWait,
	})
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// Who has used a hold lets go of it though others, under it, have not done so yet.
func TestAnAttachedHoldIsLetGoWhileOthersRelyOnIt(t *testing.T) {
	locker := pathlock.New(memstore.New())
	tree, token, hold := attachedHold(t, locker)
	inner, beside := under(t, locker, hold, "/dir1/below"), under(t, locker, hold, "/dir2")
	if got, err := hold.Detach(); err != nil || got != token {
		t.Fatalf("let go: %v, %v", got, err)
	}
	if hold.Context().Err() == nil {
		t.Error("the context of the lock lives on")
	}
	if err := errors.Join(inner.Release(t.Context()), beside.Release(t.Context())); err != nil {
		t.Error(err)
	}
	if got, want := exclusive(t, locker, tree), []string{"X /dir1"}; !slices.Equal(got, want) {
		t.Errorf("held %v, want %v", got, want)
	}
	if _, err := hold.Detach(); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("let go again: %v", err)
	}
}

// What was acquired under a hold stays with it if it is detached, whoever else relies on it.
func TestALockUnderAnAttachedHoldIsLeftWithIt(t *testing.T) {
	locker := pathlock.New(memstore.New())
	tree, token, hold := attachedHold(t, locker)
	lock := under(t, locker, hold, "/dir2")
	inner := under(t, locker, lock, "/dir2/below")
	if got, err := lock.Detach(); err != nil || got != token {
		t.Fatalf("left: %v, %v", got, err)
	}
	if err := inner.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := hold.Detach(); err != nil {
		t.Error(err)
	}
	if got, want := exclusive(t, locker, tree), []string{"X /dir1", "X /dir2"}; !slices.Equal(got, want) {
		t.Errorf("held %v, want %v", got, want)
	}
	again, err := locker.Attach(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"/dir1", "/dir2"} {
		if !slices.Contains(again.Claims(), pathlock.X(pathlock.MustParsePath(c))) {
			t.Errorf("the hold has %v, and not %s", again.Claims(), c)
		}
	}
	if err := again.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if got := exclusive(t, locker, tree); len(got) > 0 {
		t.Errorf("held after the release: %v", got)
	}
}

// A hold that has been released is not left to anybody.
func TestNothingIsLeftWithAHoldThatHasBeenReleased(t *testing.T) {
	locker := pathlock.New(memstore.New())
	tree, _, hold := attachedHold(t, locker)
	lock := under(t, locker, hold, "/dir2")
	if err := hold.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := lock.Detach(); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("left: %v", err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if got := exclusive(t, locker, tree); len(got) > 0 {
		t.Errorf("held after the release: %v", got)
	}
}

// Two who attach one token at once are one owner; what the one takes beside it, and gives back, is
// not the other's.
func TestWhatIsTakenUnderAHoldIsNotReenteredByOthers(t *testing.T) {
	locker := pathlock.New(memstore.New(), pathlock.WithLease(time.Hour))
	tree, token, hold := attachedHold(t, locker)
	mine := under(t, locker, hold, "/dir2")
	other, err := locker.Attach(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	same := under(t, locker, other, "/dir2")
	if err := mine.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := exclusive(t, locker, tree), []string{"X /dir1", "X /dir2"}; !slices.Equal(got, want) {
		t.Errorf("held %v, want %v", got, want)
	}
	if err := same.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := other.Detach(); err != nil {
		t.Error(err)
	}
	if got, want := exclusive(t, locker, tree), []string{"X /dir1"}; !slices.Equal(got, want) {
		t.Errorf("held %v, want %v", got, want)
	}
}

// The claims of a hold are folded, and what they are compared with is, too.
func TestClaimsAreThoseOfTheHold(t *testing.T) {
	locker := pathlock.New(memstore.New())
	_, _, hold := attachedHold(t, locker)
	folded, err := locker.Folded(pathlock.MustParsePath("/DIR1"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hold.Claims(), []pathlock.Claim{pathlock.IX(pathlock.Root()), pathlock.X(folded)}; !slices.Equal(got, want) {
		t.Errorf("claims %v, want %v", got, want)
	}
	if _, err := hold.Detach(); err != nil {
		t.Error(err)
	}
}
