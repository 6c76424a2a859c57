package readme

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// arrivals tells when a request has taken its place in the queue.
type arrivals struct {
	pathlock.NopObserver
	waiting chan string
}

func (a arrivals) Waiting(_ context.Context, e pathlock.Event) { a.waiting <- e.Note }

// The requests of docs/how-it-works.md come in the order of their letters. Who holds and who waits
// for whom is what the page shows, at the beginning and after an end.
func TestTheQueueOfThePage(t *testing.T) {
	seen := arrivals{waiting: make(chan string)}
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(seen), pathlock.WithWait(time.Minute))
	plan, err := pathlock.NewTree("testplan", "1")
	if err != nil {
		t.Fatal(err)
	}
	locks := map[string]chan *pathlock.Lock{}
	ask := func(ctx context.Context, note string, waits bool, claims ...pathlock.Claim) {
		granted := make(chan *pathlock.Lock, 1)
		locks[note] = granted
		done := make(chan error, 1)
		go func() {
			lock, err := locker.Acquire(ctx, pathlock.Request{Tree: plan, Claims: claims, Note: note})
			if err == nil {
				granted <- lock
			}
			done <- err
		}()
		if waits {
			if who := <-seen.waiting; who != note {
				t.Fatalf("%q waits instead of %q", who, note)
			}
			return
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	p := pathlock.MustParsePath
	var transcript strings.Builder
	show := func(title string) {
		fmt.Fprintln(&transcript, "#", title)
		if err := lookAround(t.Context(), locker, plan, &transcript); err != nil {
			t.Fatal(err)
		}
	}
	end := func(who string) {
		if err := (<-locks[who]).Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
	// await waits for the grant that the end of another one makes.
	await := func(who string) *pathlock.Lock {
		lock := <-locks[who]
		locks[who] <- lock
		return lock
	}

	ask(t.Context(), "A", false, pathlock.X(p("/a/x")), pathlock.X(p("/a/y")))
	ask(t.Context(), "B", true, pathlock.X(p("/a")))
	ask(t.Context(), "C", true, pathlock.X(p("/a/n")))
	ask(t.Context(), "D", false, pathlock.X(p("/b/n")))
	ask(t.Context(), "E", true, pathlock.S(p("/b")))
	show("all have come")
	// B waits for A, and A passes it.
	more, err := locker.Acquire(await("A").Context(), pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(p("/a/z"))}, Wait: pathlock.NoWait})
	if err != nil {
		t.Fatalf("A asks for more: %v", err)
	}
	if err := more.Release(t.Context()); err != nil {
		t.Error(err)
	}
	end("A")
	await("B")
	show("A has ended")
	end("D")
	await("E")
	end("B")
	end("C")
	end("E")
	for _, page := range []string{"how-it-works.md", "how-it-works.zh-CN.md"} {
		if !strings.Contains(readPage(t, filepath.Join("..", "..", "docs", page)), "```text\n"+transcript.String()+"```") {
			t.Errorf("%s does not show this:\n%s", page, transcript.String())
		}
	}
}

// lookAround writes who holds what, and who waits for whom.
func lookAround(ctx context.Context, locker *pathlock.Locker, plan pathlock.Tree, to io.Writer) error {
	snapshot, err := locker.Snapshot(ctx, plan)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, hold := range snapshot.Holders {
		fmt.Fprintln(&lines, hold.Note, "holds", hold.Claims)
	}
	for i, blockers := range snapshot.Blockers() {
		for _, b := range blockers {
			fmt.Fprintln(&lines, snapshot.Waiters[i].Note, "waits for", b.Entry.Note, "because of", b.Mode, b.Path)
		}
	}
	_, err = io.WriteString(to, lines.String())
	return err
}

// A late writer, whose lease has ended and whose lock another owner has, changes nothing.
func TestTheFenceOfThePage(t *testing.T) {
	db := open(t)
	for _, statement := range []string{"CREATE TABLE prices (id INTEGER PRIMARY KEY, price INTEGER, fence INTEGER)", "INSERT INTO prices VALUES (1, 0, 0)"} {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	locker := pathlock.New(memstore.New())
	plan, err := pathlock.NewTree("testplan", "1")
	if err != nil {
		t.Fatal(err)
	}
	request := pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}}
	late, err := locker.Acquire(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := locker.Snapshot(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := locker.ForceRelease(t.Context(), plan, snapshot.Holders[0].Owner); err != nil {
		t.Fatal(err)
	}
	next, err := locker.Acquire(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if err := publishPrice(t.Context(), db, next, 2); err != nil {
		t.Error(err)
	}
	if err := publishPrice(t.Context(), db, late, 1); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("the late write: %v, want ErrLost", err)
	}
	var price int
	if err := db.Table("prices").Select("price").Scan(&price).Error; err != nil || price != 2 {
		t.Errorf("the price is %d, %v, want 2", price, err)
	}
}
