package pathlock_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestToken_refusesOtherText(t *testing.T) {
	l, _ := newLocker()
	token, err := acquire(t.Context(), t, l, "X /a").Detach(t.Context())
	testerr.Must(t, err)
	good := string(token)
	none := []string{"", "x", good + "x", good[1:], strings.Replace(good, ".", "..", 1), strings.ToLower(good)}
	for i := range good {
		other := "A"
		if good[i] == 'A' {
			other = "B"
		}
		none = append(none, good[:i]+other+good[i+1:])
	}
	// Anybody can compute a checksum.
	body := good[strings.IndexByte(good, '.'):strings.LastIndexByte(good, '.')]
	for _, owner := range []string{"d-", "d-x", "d-" + strings.Repeat("A", 25) + "\n", "d-" + strings.Repeat("A", 27), strings.Repeat("A", 28)} {
		sum := sha256.Sum256([]byte(owner + body))
		none = append(none, owner+body+"."+base64.RawURLEncoding.EncodeToString(sum[:6]))
	}
	for _, text := range none {
		token := pathlock.Token(text)
		testerr.Is(t, "attach "+text, testerr.Of(l.Attach(t.Context(), token)), pathlock.ErrInvalidToken)
		testerr.Is(t, "refresh "+text, testerr.Of(l.Refresh(t.Context(), token, time.Minute)), pathlock.ErrInvalidToken)
		testerr.Is(t, "release "+text, l.ReleaseToken(t.Context(), token), pathlock.ErrInvalidToken)
	}
	testerr.Is(t, "refreshed for a millisecond", testerr.Of(l.Refresh(t.Context(), token, time.Millisecond)), pathlock.ErrInvalidRequest)
}

func TestAttach_refusesAnInvalidLease(t *testing.T) {
	l, store := newLocker()
	token, err := acquire(t.Context(), t, l, "X /a").Detach(t.Context())
	testerr.Must(t, err)
	_, err = pathlock.New(store, pathlock.WithLease(time.Millisecond)).Attach(t.Context(), token)
	testerr.Is(t, "attached for a millisecond", err, pathlock.ErrInvalidRequest)
}

// The clock ends the lease of a lock whose hold a new owner has by then. The lock's context ends,
// and the token comes all the same. If it does not come, the lock is lost.
func TestDetach_outlastsTheLease(t *testing.T) {
	for call, want := range map[string]error{"transferred": nil, "transfer": pathlock.ErrUnavailable} {
		l, store := newLocker()
		lock := acquire(t.Context(), t, l, "X /a")
		ended, stop := context.WithCancel(lock.Context()) // which does not look at the clock itself
		store.Set(func(_ context.Context, at string) error {
			if at != call {
				return nil
			}
			pathlock.SuspendHost(l, time.Hour)
			<-ended.Done()
			return want
		})
		token, err := lock.Detach(t.Context())
		stop()
		store.Set(nil)
		testerr.Is(t, call, err, want)
		testerr.Is(t, "why the context has ended: "+call, context.Cause(lock.Context()), pathlock.ErrLost)
		pathlock.SuspendHost(l, 0)
		if want != nil {
			testerr.Is(t, "released: "+call, lock.Release(t.Context()), pathlock.ErrLost)
			continue
		}
		testerr.None(t, l.ReleaseToken(t.Context(), token))
		free(t, l, "X /a", true)
	}
}

func TestToken_isNeverShownWhole(t *testing.T) {
	var log strings.Builder
	l := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	req := request(t, "X /a")
	req.Note = ""
	lock, err := l.Acquire(t.Context(), req)
	testerr.Must(t, err)
	_, conflict := l.Acquire(t.Context(), req)
	owner := l.Scope(lock.Context()).Owner()
	token, err := lock.Detach(t.Context())
	testerr.Must(t, err)
	slog.New(slog.NewTextHandler(&log, nil)).Info("", "owner", owner, "token", token)
	shown := log.String() + conflict.Error()
	if strings.Contains(shown, string(owner)) || strings.Contains(shown, string(token)) || !strings.Contains(shown, "owner "+owner.Short()+", which has X since 2") {
		t.Errorf("the owner %s or the token %s is shown whole, or not at all, in:\n%s", owner, token, shown)
	}
}

// Anna edits for ten minutes, and no process has to live that long: a request that brings the token
// works under the hold, and any process can move its end or release it.
func ExampleLock_Detach() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, _ := pathlock.NewTree("testplan", "plan-001")
	lock, _ := locker.Acquire(ctx, pathlock.Request{
		Tree:   tree,
		Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))},
		Lease:  10 * time.Minute,
		Note:   "anna edits /dir1",
	})
	token, _ := lock.Detach(ctx)

	rename := pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1/new"))}, Wait: pathlock.NoWait,
	}
	_, err := locker.Acquire(ctx, rename)
	var conflict *pathlock.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println(conflict.Blocker.Note, conflict.Blocker.Owner.Detached())
	}

	hold, _ := locker.Attach(ctx, token, pathlock.WithoutRenewal())
	_, err = locker.Acquire(hold.Context(), rename)
	fmt.Println("renamed under the hold:", err)
	again, _ := hold.Detach(ctx)
	fmt.Println("the hold goes on:", again == token)

	until, _ := locker.Refresh(ctx, token, time.Hour)
	fmt.Println(time.Until(until).Round(time.Minute), locker.ReleaseToken(ctx, token))
	_, err = locker.Attach(ctx, token)
	fmt.Println(errors.Is(err, pathlock.ErrLost))
	// Output:
	// anna edits /dir1 true
	// renamed under the hold: <nil>
	// the hold goes on: true
	// 1h0m0s <nil>
	// true
}
