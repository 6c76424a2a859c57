package zkstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
)

// unavailable requires that the store says that it cannot serve.
func unavailable(t *testing.T, s *Store, tree pathlock.Tree) {
	t.Helper()
	_, acquired := s.Acquire(t.Context(), ask(tree, x("/m")))
	_, snapshot := s.Snapshot(t.Context(), tree)
	_, trees := s.Trees(t.Context())
	_, renewed := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: "o", For: long}})
	for what, err := range map[string]error{
		"acquire": acquired, "snapshot": snapshot, "trees": trees, "renew": renewed,
		"release": s.Release(t.Context(), tree, "o", "g"), "ping": s.Ping(t.Context()),
	} {
		if !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", what, err)
		}
	}
}

func TestNoServer(t *testing.T) {
	s := newStore(t, "127.0.0.1:1", WithTimeout(200*time.Millisecond), WithDigest("user", "sesame"))
	unavailable(t, s, newTree(t))
	if err := s.Ping(t.Context()); strings.Contains(err.Error(), "sesame") {
		t.Errorf("the error names the password: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ping with a cancelled context: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	unavailable(t, s, newTree(t))
	if err := s.Ping(t.Context()); !errors.Is(err, pathlock.ErrClosed) {
		t.Errorf("ping of a closed store: %v, want ErrClosed", err)
	}
}

// TestTooLarge: a claim set that no server would take is refused, and hurts nobody else.
func TestTooLarge(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr), newTree(t)
	claims := make([]pathlock.Claim, 0, 5000)
	for range cap(claims) {
		claims = append(claims, x("/"+rand.Text()))
	}
	if _, err := s.Acquire(t.Context(), ask(tree, claims...)); !errors.Is(err, pathlock.ErrInvalidRequest) {
		t.Errorf("a claim set of %d random names: %v, want ErrInvalidRequest", len(claims), err)
	}
	// As many as Redis takes.
	large := ask(tree, claims[:300]...)
	take(t, s, large)
	holders(t, s, tree, 1)
	release(t, s, large)
	notes := ask(tree, x("/n"))
	notes.Note = strings.Repeat("note ", 10_000)
	take(t, s, notes)
	release(t, s, notes)
}

// TestLargestUpdate: as many tickets as one update may write, each as large as it may be, go into
// one request.
func TestLargestUpdate(t *testing.T) {
	testserver.NotUnderRace(t) // it is about 100 times 700 claims
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr), newTree(t)
	held := ask(tree, x("/"))
	held.Lease = 5 * time.Minute // queueing so much may take longer than an ordinary lease
	take(t, s, held)
	claims := make([]pathlock.Claim, 0, 330)
	for range cap(claims) {
		claims = append(claims, pathlock.S(pathlock.MustParsePath("/"+rand.Text()[:12])))
	}
	crowd := make([]*waiting, 0, maxTickets*3/4)
	for i := range cap(crowd) {
		req := ask(tree, claims...)
		req.Lease, req.Wait = held.Lease, held.Lease
		req.Note = fmt.Sprint(i)
		crowd = append(crowd, queue(t, s, req))
	}
	release(t, s, held)
	for _, w := range crowd {
		w.granted()
	}
	holders(t, s, tree, len(crowd))
	for _, w := range crowd {
		release(t, s, w.req)
	}
}

func TestDigest(t *testing.T) {
	server := testzk.Start(t)
	tree := newTree(t)
	open := func(user, password string) *Store {
		s, err := Open(fmt.Sprintf("zk://%s:%s@%s/locks", user, password, server.Addr))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
		return s
	}
	s := open("ann", "sesame")
	held := ask(tree, x("/n"))
	take(t, s, held)
	for who, stranger := range map[string]*Store{
		"nobody": newStore(t, server.Addr, WithRoot("/locks")), "another user": open("bob", "sesame"), "another password": open("ann", "simsim"),
	} {
		if _, err := stranger.Snapshot(t.Context(), tree); !errors.Is(err, pathlock.ErrUnavailable) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s sees the locks: %v", who, err)
		}
		if err := stranger.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("%s is served: %v", who, err)
		}
		if err := stranger.ForceRelease(t.Context(), tree, held.Owner); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("%s takes locks away: %v", who, err)
		}
		if _, err := stranger.Acquire(t.Context(), ask(newTree(t), x("/n"))); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("%s takes locks: %v", who, err)
		}
	}
	// On a new connection, the same user is known again.
	addr, proxy := behind(t, server.Addr)
	again := newStore(t, addr, WithRoot("/locks"), WithDigest("ann", "sesame"))
	holders(t, again, tree, 1)
	proxy.CutAt(1, true)
	holders(t, again, tree, 1)
	if !proxy.WasCut() {
		t.Error("the connection was not cut")
	}
	release(t, s, held)
}
