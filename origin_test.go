package pathlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestTheOriginOfAHoldIsSeenByAll(t *testing.T) {
	for _, tt := range []struct {
		name     string
		note     string
		in, want pathlock.Origin
	}{
		{"none", "edit", pathlock.Origin{}, pathlock.Origin{Instance: "here"}},
		{"whole", "edit", pathlock.Origin{Operation: "rename", Route: "PATCH /a/:id", RequestID: "r1", Trace: "00-ab-cd-01"},
			pathlock.Origin{Operation: "rename", Route: "PATCH /a/:id", Instance: "here", RequestID: "r1", Trace: "00-ab-cd-01"}},
		{"another instance", "", pathlock.Origin{Instance: "there"}, pathlock.Origin{Instance: "there"}},
		{"a note with the separators", "a\x1fb\x1fc\x1fd\x1fe\x1ff\x1e", pathlock.Origin{}, pathlock.Origin{Instance: "here"}},
		{"control characters", "n", pathlock.Origin{RequestID: "a\x1f\x1e\n\x00b", Route: "\x1e"}, pathlock.Origin{Instance: "here", RequestID: "ab"}},
		{"characters that turn directions", "n", pathlock.Origin{RequestID: "a\u202eb\u2066c\u200fé"}, pathlock.Origin{Instance: "here", RequestID: "abcé"}},
		{"invalid UTF-8", "n", pathlock.Origin{RequestID: "a\xffb"}, pathlock.Origin{Instance: "here", RequestID: "ab"}},
		{"a long field is cut between characters", "n", pathlock.Origin{RequestID: "x" + strings.Repeat("é", 100)},
			pathlock.Origin{Instance: "here", RequestID: "x" + strings.Repeat("é", 63)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			locker := pathlock.New(memstore.New(), pathlock.WithInstance("here"))
			ctx := pathlock.WithOrigin(t.Context(), tt.in)
			lock, err := locker.Acquire(ctx, ask(t, tt.note))
			if err != nil {
				t.Fatal(err)
			}
			if lock.Note() != tt.note {
				t.Errorf("the lock's note is %q, want %q", lock.Note(), tt.note)
			}
			snapshot, err := locker.Snapshot(t.Context(), lock.Tree())
			if err != nil || len(snapshot.Holders) != 1 {
				t.Fatalf("%+v, %v", snapshot, err)
			}
			if h := snapshot.Holders[0]; h.Note != tt.note || h.Origin != tt.want {
				t.Errorf("the snapshot has %q, %+v; want %q, %+v", h.Note, h.Origin, tt.note, tt.want)
			}
			_, err = locker.Acquire(t.Context(), ask(t, ""))
			conflict, ok := errors.AsType[*pathlock.ConflictError](err)
			if !ok || conflict.Blocker.Note != tt.note || conflict.Blocker.Origin != tt.want {
				t.Errorf("the conflict is %+v; want %q, %+v", conflict, tt.note, tt.want)
			}
			if strings.ContainsAny(err.Error(), "\x1f\x1e") || tt.in.RequestID != "" && strings.Contains(err.Error(), tt.want.RequestID) {
				t.Errorf("the error quotes the origin: %q", err)
			}
			token, err := lock.Detach()
			if err != nil {
				t.Fatal(err)
			}
			attached, err := locker.Attach(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = attached.Release(t.Context()) }()
			if attached.Note() != tt.note {
				t.Errorf("the attached lock's note is %q, want %q", attached.Note(), tt.note)
			}
			if snapshot, err = locker.Snapshot(t.Context(), lock.Tree()); err != nil || snapshot.Holders[0].Origin != tt.want {
				t.Errorf("detached, the origin is %+v, %v", snapshot.Holders, err)
			}
		})
	}
}

func TestAnUnnamedProcessKeepsNotesAsTheyAre(t *testing.T) {
	store := memstore.New()
	locker := pathlock.New(store, pathlock.WithInstance(""))
	for _, note := range []string{"", "edit", "a\x1eb", "a\x1f"} {
		lock, err := locker.Acquire(t.Context(), ask(t, note))
		if err != nil {
			t.Fatal(err)
		}
		if snapshot, err := store.Snapshot(t.Context(), lock.Tree()); err != nil || snapshot.Holders[0].Note != note {
			t.Errorf("the store has %+v, %v; want the note %q", snapshot, err, note)
		}
		if err := lock.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// An observer adds to the origin when the acquisition begins, as a tracer does with its span.
func TestObserversAddToTheOrigin(t *testing.T) {
	seen := &originObserver{seen: make(map[string]pathlock.Origin)}
	locker := pathlock.New(memstore.New(), pathlock.WithInstance("here"), pathlock.WithObserver(seen))
	lock, err := locker.Acquire(pathlock.WithOrigin(t.Context(), pathlock.Origin{Operation: "edit"}), ask(t, "n"))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := locker.Snapshot(t.Context(), lock.Tree())
	want := pathlock.Origin{Operation: "edit", Instance: "here", Trace: "span"}
	if err != nil || snapshot.Holders[0].Origin != want {
		t.Errorf("the holder's origin is %+v, %v; want %+v", snapshot.Holders, err, want)
	}
	if _, err := locker.Acquire(t.Context(), ask(t, "")); !errors.Is(err, pathlock.ErrConflict) {
		t.Fatal(err)
	}
	again, err := locker.Acquire(lock.Context(), ask(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Release(t.Context()), lock.Release(t.Context())); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]pathlock.Origin{
		"acquiring":         {Operation: "edit", Instance: "here"},
		"granted":           want,
		"released":          want,
		"granted reentrant": {Operation: "edit", Instance: "here"},
		"refused":           {Instance: "here", Trace: "span"},
	} {
		if got := seen.seen[what]; got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
}

// originObserver keeps the first origin of each kind of event.
type originObserver struct {
	pathlock.NopObserver
	seen map[string]pathlock.Origin
}

func (o *originObserver) keep(what string, e pathlock.Event) {
	if e.Reentrant {
		what += " reentrant"
	}
	if _, ok := o.seen[what]; !ok {
		o.seen[what] = e.Origin
	}
}

func (o *originObserver) Acquiring(ctx context.Context, e pathlock.Event) context.Context {
	o.keep("acquiring", e)
	return pathlock.WithOrigin(ctx, pathlock.Origin{Trace: "span"})
}
func (o *originObserver) Granted(_ context.Context, e pathlock.Event)  { o.keep("granted", e) }
func (o *originObserver) Refused(_ context.Context, e pathlock.Event)  { o.keep("refused", e) }
func (o *originObserver) Released(_ context.Context, e pathlock.Event) { o.keep("released", e) }

// ask returns a request that conflicts with itself.
func ask(t *testing.T, note string) pathlock.Request {
	t.Helper()
	tree, err := pathlock.NewTree("testplan", "plan-1")
	if err != nil {
		t.Fatal(err)
	}
	return pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}, Wait: pathlock.NoWait, Lease: time.Minute, Note: note}
}
