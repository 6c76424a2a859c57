package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestAcquire_refusesAFoldThatMakesNoName(t *testing.T) {
	for _, made := range []string{"", "a/b", ".."} {
		l, store := newLocker(pathlock.WithFold(func(string) string { return made }))
		_, err := l.Acquire(t.Context(), request(t, "X /n"))
		if !errors.Is(err, pathlock.ErrInvalidPath) || len(store.Calls()) != 0 {
			t.Errorf("a fold to %q: %v", made, err)
		}
	}
}

func TestAcquire_refusesSenselessRequests(t *testing.T) {
	l, store := newLocker()
	for says, spoil := range map[string]func(*pathlock.Request){
		"no tree":                     func(r *pathlock.Request) { r.Tree = pathlock.Tree{} },
		"neither claims nor the gate": func(r *pathlock.Request) { r.Claims = nil },
		"mode":                        func(r *pathlock.Request) { r.Claims = []pathlock.Claim{{Mode: 77}} },
		"negative wait":               func(r *pathlock.Request) { r.Wait = -2 },
		"negative hold":               func(r *pathlock.Request) { r.MaxHold = -1 },
		"10ms":                        func(r *pathlock.Request) { r.Lease = time.Millisecond },
		"513 bytes":                   func(r *pathlock.Request) { r.Note = strings.Repeat("x", pathlock.MaxNoteBytes+1) },
		"UTF-8":                       func(r *pathlock.Request) { r.Note = "\xff" },
		"4097 claims":                 func(r *pathlock.Request) { r.Claims = make([]pathlock.Claim, 4097) },
		"MaxPathBytes": func(r *pathlock.Request) { // with all ancestors
			r.Claims = []pathlock.Claim{pathlock.X(pathlock.MustParsePath(strings.Repeat("/"+strings.Repeat("n", pathlock.MaxNameBytes), 48)))}
		},
		"4099 nodes": func(r *pathlock.Request) {
			r.Claims = nil
			for i := range 2049 {
				r.Claims = append(r.Claims, pathlock.X(pathlock.MustParsePath(fmt.Sprintf("/p%d/c", i))))
			}
		},
	} {
		req := request(t, "X /a")
		spoil(&req)
		_, err := l.Acquire(t.Context(), req)
		invalid := errors.Is(err, pathlock.ErrInvalidRequest) || errors.Is(err, pathlock.ErrInvalidTree)
		if !invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	if calls := store.Calls(); len(calls) != 0 {
		t.Errorf("the store was asked: %v", calls)
	}
}

// A caller may use its slice of claims again once Acquire has returned.
func TestAcquire_keepsNoClaimsOfItsCallers(t *testing.T) {
	j := &journal{}
	l, _ := newLocker(pathlock.WithObserver(j))
	req := request(t, "X /a, X /b")
	outer, err := l.Acquire(t.Context(), req)
	testerr.Must(t, err)
	inner, err := l.Acquire(outer.Context(), req)
	testerr.Must(t, err)
	req.Claims[0], req.Claims[1] = pathlock.S(pathlock.MustParsePath("/z")), pathlock.S(pathlock.MustParsePath("/z"))
	release(t, inner)
	free(t, l, "X /a", false)
	release(t, outer)
	for _, want := range []string{"released X /a, X /b", "released X /a, X /b (re-entrant)"} {
		if !slices.Contains(j.events, want) {
			t.Errorf("not among %q: %q", j.events, want)
		}
	}
}

// A concurrent look at the lock reads nothing that changes without the mutex.
func TestExchange_noteStaysAfterDowngrade(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		_, _ = lock.Degraded(), lock.Note() // one look is enough for the race detector
	}()
	testerr.None(t, lock.Exchange(t.Context(), claims(t, "X /b"), "another"))
	testerr.None(t, lock.Downgrade(t.Context()))
	<-looked
	snapshot, err := l.Snapshot(t.Context(), lock.Tree())
	if err != nil || len(snapshot.Holders) != 1 || snapshot.Holders[0].Note != "another" || lock.Note() != "another" {
		t.Errorf("the lock's note is %q, and others see %+v, %v", lock.Note(), snapshot.Holders, err)
	}
	release(t, lock)
}

// A program can check at start whether the options of its locker make sense. It gets the error that
// would have refused the first request.
func TestCheck_refusesOptionsThatFailEveryRequest(t *testing.T) {
	for says, option := range map[string]pathlock.Option{
		"":                        pathlock.WithLease(pathlock.MinLease),
		"at least 10ms is needed": pathlock.WithLease(pathlock.MinLease - 1),
		"negative wait -1s":       pathlock.WithWait(-time.Second),
	} {
		// In virtual time the shortest lease does not end before its grant.
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLocker(option)
			req := request(t, "X /a")
			req.Wait = 0
			lock, refusal := l.Acquire(t.Context(), req)
			if refusal == nil {
				release(t, lock)
			}
			if err := l.Check(); says == "" && (err != nil || refusal != nil) {
				t.Errorf("Check: %v; Acquire: %v; want neither", err, refusal)
			} else if says != "" && (!errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), says) || fmt.Sprint(refusal) != err.Error()) {
				t.Errorf("Check: %v; Acquire: %v; want both to say %q", err, refusal, says)
			}
		})
	}
}

// Whatever a note and an origin contain, everybody sees them.
func TestOrigin_isSeenByAll(t *testing.T) {
	for note, tt := range map[string]struct{ in, want pathlock.Origin }{
		"edit": {pathlock.Origin{}, pathlock.Origin{Instance: "here"}},
		"whole": {pathlock.Origin{Operation: "rename", Route: "PATCH /a/:id", RequestID: "r1", Trace: "00-ab-cd-01"},
			pathlock.Origin{Operation: "rename", Route: "PATCH /a/:id", Instance: "here", RequestID: "r1", Trace: "00-ab-cd-01"}},
		"a\x1fb\x1fc\x1fd\x1fe\x1ff\x1e": {pathlock.Origin{}, pathlock.Origin{Instance: "here"}},
		"control characters":             {pathlock.Origin{RequestID: "a\x1f\x1e\n\x00b", Route: "\x1e"}, pathlock.Origin{Instance: "here", RequestID: "ab"}},
		"other directions":               {pathlock.Origin{RequestID: "a\u202eb\u2066c\u200fé"}, pathlock.Origin{Instance: "here", RequestID: "abcé"}},
		"a cut between characters": {pathlock.Origin{RequestID: "x" + strings.Repeat("é", 100)},
			pathlock.Origin{Instance: "here", RequestID: "x" + strings.Repeat("é", 63)}},
	} {
		t.Run(note, func(t *testing.T) {
			l, _ := newLocker(pathlock.WithInstance("here"))
			req := request(t, "X /a")
			req.Note = note
			lock, err := l.Acquire(pathlock.WithOrigin(t.Context(), tt.in), req)
			testerr.Must(t, err)
			_, refusal := l.Acquire(t.Context(), req)
			conflict, ok := errors.AsType[*pathlock.ConflictError](refusal)
			if !ok || conflict.Blocker.Note != note || conflict.Blocker.Origin != tt.want {
				t.Errorf("the conflict is %+v; want %q, %+v", conflict, note, tt.want)
			}
			if strings.ContainsAny(refusal.Error(), "\x1f\x1e") {
				t.Errorf("the error quotes the origin: %q", refusal)
			}
			token, err := lock.Detach(t.Context())
			testerr.Must(t, err)
			attached, err := l.Attach(t.Context(), token)
			testerr.Must(t, err)
			if lock.Note() != note || attached.Note() != note {
				t.Errorf("the lock's note is %q, and %q where it is attached; want %q", lock.Note(), attached.Note(), note)
			}
			snapshot, err := l.Snapshot(t.Context(), lock.Tree())
			if err != nil || len(snapshot.Holders) != 1 || snapshot.Holders[0].Note != note || snapshot.Holders[0].Origin != tt.want {
				t.Errorf("the snapshot has %+v, %v; want %q, %+v", snapshot.Holders, err, note, tt.want)
			}
			release(t, attached)
		})
	}
}

func TestScope_belongsToItsLocker(t *testing.T) {
	l, _ := newLocker()
	elsewhere, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	if scope := l.Scope(lock.Context()); scope != l.Scope(lock.Context()) || scope.Owner() == elsewhere.Scope(lock.Context()).Owner() {
		t.Error("a lock's context carries another scope, or a locker on another store takes it for its own")
	}
	release(t, lock)
}

// cutOff is a store that nobody can reach.
type cutOff struct{ pathlock.Store }

func (cutOff) Acquire(context.Context, pathlock.Acquisition) (pathlock.Grant, error) {
	return pathlock.Grant{}, pathlock.ErrUnavailable
}

// The lock store is away. Work whose writes are asserted in their transaction goes on without it,
// and a mutex, behind which there is no assertion, is refused.
func ExampleDegrade() {
	ctx := context.Background()
	store := pathlock.Degrade(cutOff{memstore.New()}, pathlock.Degradation{
		Limit: 10 * time.Minute,
		Log:   slog.New(slog.DiscardHandler),
	})
	locker := pathlock.New(store)
	plan, _ := pathlock.NewTree("testplan", "plan-001")
	lock, _ := locker.Acquire(ctx, pathlock.Request{
		Tree:     plan,
		Claims:   []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))},
		Asserted: true,
	})
	defer func() { _ = lock.Release(ctx) }()
	fmt.Println("without the store:", lock.Degraded(), "fence:", lock.Fence())

	_, err := locker.Mutex("nightly").Lock(ctx)
	fmt.Println("the mutex:", err)
	// Output:
	// without the store: true fence: 0
	// the mutex: pathlock: lock store unavailable
}
