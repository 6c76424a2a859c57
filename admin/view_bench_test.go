package admin

import (
	"context"
	"fmt"
	"testing"
	"time"

	"net/http"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// What one look at a large tree costs when it has changed: 500 holders, and 500 that wait for 50 of
// them.
func BenchmarkView(b *testing.B) {
	store := memstore.New()
	tree, err := pathlock.NewTree("test", "plan")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	ask := func(i int, path string, wait time.Duration, waiting func()) {
		_, _ = store.Acquire(ctx, pathlock.Acquisition{
			Tree: tree, Owner: pathlock.Owner(fmt.Sprint("owner", i)), Grant: "1", Lease: time.Hour, Wait: wait, Waiting: waiting,
			Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath(path))),
		})
	}
	for i := range 500 {
		ask(i, fmt.Sprintf("/area %02d/suite %03d/case", i%20, i), 0, nil)
	}
	for i := range 500 {
		waiting := make(chan struct{})
		go ask(500+i, fmt.Sprintf("/area %02d/suite %03d", i%50%20, i%50), time.Hour, func() { close(waiting) })
		<-waiting
	}
	page, err := New(pathlock.New(store), Config{Authorize: func(*http.Request) error { return nil }})
	if err != nil {
		b.Fatal(err)
	}
	defer page.Close()
	s, err := store.Snapshot(ctx, tree)
	if err != nil || len(s.Waiters) != 500 {
		b.Fatal(len(s.Waiters), err)
	}
	s.Tree = tree
	b.ReportAllocs()
	for b.Loop() {
		page.view(s, time.Now())
	}
}
