package ticketstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// More readers are let in than one update can write: several updates follow each other.
func TestACrowdOfReadersIsLetInPortionByPortion(t *testing.T) {
	inBubble(t, func(s *fixture) {
		const crowd = 50
		_, holder := s.process()
		_, waiting := s.process()
		s.takes(holder, "writer", "/a")
		var ended []<-chan error
		for i := range crowd {
			req := s.ask(fmt.Sprint(i), "/a")
			req.Claims = pathlock.Normalize(pathlock.S(pathlock.MustParsePath("/a")))
			ended = append(ended, s.begin(s.Context(), waiting, req))
		}
		s.limit(8)
		began := time.Now()
		s.releases(holder, "writer")
		for _, e := range ended {
			if err := <-e; err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v until all were let in, which nothing but updates should", took)
		}
	})
}

// limit makes every process of the fixture write only so many tickets at a time.
func (s *fixture) limit(n int) {
	for _, m := range s.processes {
		m.limit.Store(int64(n))
	}
}

// What comes together is refused one by one: whoever asks for too much is alone in that.
func TestOneWhoAsksForTooMuchIsRefusedAlone(t *testing.T) {
	inBubble(t, func(s *fixture) {
		m, store := s.process()
		m.largest.Store(10_000)
		gate := make(chan struct{})
		m.meddle(func(context.Context) error { <-gate; return nil }, nil)
		var all sync.WaitGroup
		ask := func(owner, path string, want error) {
			all.Go(func() {
				if _, err := store.Acquire(s.Context(), s.ask(owner, path)); !errors.Is(err, want) {
					t.Errorf("%s gets %v, want %v", owner, err, want)
				}
			})
		}
		ask("first", "/first", nil)
		synctest.Wait() // its update is under way
		for i := range 5 {
			ask(fmt.Sprint(i), fmt.Sprint("/n", i), nil)
		}
		ask("greedy", strings.Repeat("/"+strings.Repeat("n", 200), 30), pathlock.ErrInvalidRequest)
		synctest.Wait()
		close(gate)
		all.Wait()
	})
}
