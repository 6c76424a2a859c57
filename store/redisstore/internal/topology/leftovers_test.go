package topology

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// TestNothingLeft: ten thousand trees that were used, waited in and released leave their fences,
// which expire, and without them the server's memory is what it was.
func TestNothingLeft(t *testing.T) {
	const (
		trees   = 10_000
		workers = 8
		// slack is for what the server keeps for itself: buffers of connections, tables that shrink
		// when it finds the time.
		slackBytes = 512 << 10
	)
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	client := server.Client()
	store := open(t, client)
	use := func(i int) {
		tree, err := pathlock.NewTree("leftovers", strconv.Itoa(i))
		if err != nil {
			t.Error(err)
			return
		}
		first, second := ask(tree, x(fmt.Sprintf("/a/b/%d", i))), ask(tree, s("/a"))
		if _, err := store.Acquire(t.Context(), first); err != nil {
			t.Errorf("acquire: %v", err)
			return
		}
		granted := make(chan error)
		queued := make(chan struct{})
		waits := i%100 == 0
		if waits {
			second.Wait, second.Waiting = long, func() { close(queued) }
			go func() { _, err := store.Acquire(t.Context(), second); granted <- err }()
			<-queued
		}
		if err := store.Release(t.Context(), tree, first.Owner, first.Grant); err != nil {
			t.Errorf("release: %v", err)
		}
		if waits {
			if err := <-granted; err != nil {
				t.Errorf("acquire: %v", err)
			}
			if err := store.Release(t.Context(), tree, second.Owner, second.Grant); err != nil {
				t.Errorf("release: %v", err)
			}
		}
	}
	useAll := func(n int) {
		next := make(chan int)
		var working sync.WaitGroup
		for range workers {
			working.Go(func() {
				for i := range next {
					use(i)
				}
			})
		}
		for i := range n {
			next <- i
		}
		close(next)
		working.Wait()
	}
	forgetFences := func() {
		for cursor := uint64(0); ; {
			keys, further, err := client.Scan(t.Context(), cursor, "*", 1000).Result()
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range keys {
				if !strings.HasSuffix(key, "}:fence") {
					t.Errorf("%s is left", key)
				}
				if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 {
					t.Errorf("%s is left for ever", key)
				}
			}
			if len(keys) > 0 && client.Del(t.Context(), keys...).Err() != nil {
				t.Error("DEL fails")
			}
			if cursor = further; cursor == 0 {
				return
			}
		}
	}
	used := func() int {
		n, err := strconv.Atoi(server.Info("memory", "used_memory"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}

	useAll(200) // connections and scripts are there from here on
	forgetFences()
	before := used()
	useAll(trees)
	if n := server.Do("DBSIZE"); n != int64(trees) {
		t.Errorf("%v keys are left by %d trees, want a fence for each", n, trees)
	}
	t.Logf("memory: %d bytes before, %d with %d fences", before, used(), trees)
	forgetFences()
	testserver.Await(t, "the memory is what it was", func() bool { return used() <= before+slackBytes })
	t.Logf("memory: %d bytes afterwards", used())
}
