package admin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// stream is an event stream that a test reads.
type stream struct {
	*fixture
	resp  *http.Response
	lines *bufio.Scanner
	close context.CancelFunc
	// names are those of the events so far.
	names []string
}

func (f *fixture) stream(query string) *stream {
	f.Helper()
	ctx, stop := context.WithCancel(f.Context())
	f.Cleanup(stop)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.server.URL+"/admin/locks/api/events"+query, nil)
	if err != nil {
		f.Fatal(err)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 8<<20)
	return &stream{fixture: f, resp: resp, lines: lines, close: stop}
}

// next returns the next event, "" at the end of the stream.
func (s *stream) next() (event string, data []byte) {
	for s.lines.Scan() {
		line := s.lines.Text()
		s.secret([]byte(line))
		switch {
		case strings.HasPrefix(line, "event: "):
			event = strings.TrimPrefix(line, "event: ")
		case strings.HasPrefix(line, "data: "):
			data = []byte(strings.TrimPrefix(line, "data: "))
		case line == "" && event != "":
			s.names = append(s.names, event)
			return event, data
		}
	}
	return "", nil
}

// await returns the data of the next event of a name.
func (s *stream) await(name string) []byte {
	s.Helper()
	for {
		event, data := s.next()
		if event == name {
			return data
		}
		if event == "" {
			s.Fatalf("the stream ended before %q: %v", name, s.lines.Err())
		}
	}
}

func TestAStreamBeginsWithEverything(t *testing.T) {
	f := newFixture(t, anybody())
	f.hold("/dir1", "import")
	s := f.stream("?namespace=testplan&id=7")
	h := s.resp.Header
	if s.resp.StatusCode != http.StatusOK || h.Get("Content-Type") != "text/event-stream" || h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", s.resp.StatusCode, h)
	}
	if event, _ := s.next(); event != "ping" {
		t.Errorf("the first event is %q, want a ping", event)
	}
	got := []string{}
	for range 2 {
		event, _ := s.next()
		got = append(got, event)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"tree", "trees"}) {
		t.Errorf("then come %q", got)
	}
}

// Whoever applies each change to what was before has what a fresh look shows.
func TestChangesLeadToWhatIsThere(t *testing.T) {
	f := newFixture(t, anybody())
	kept := f.hold("/dir1", "import")
	s := f.stream("?namespace=testplan&id=7")
	var shown shownTree
	if err := json.Unmarshal(s.await("tree"), &shown); err != nil {
		t.Fatal(err)
	}
	changes, wholes := 0, 0
	apply := func(want func(shownTree) bool) {
		t.Helper()
		for !want(shown) {
			event, data := s.next()
			var c shownTree
			switch event {
			case "":
				t.Fatal("the stream ended")
			case "tree":
				wholes++
				shown = shownTree{}
				fallthrough
			case "change":
				if err := json.Unmarshal(data, &c); err != nil {
					t.Fatal(err)
				}
				if event == "change" {
					changes++
					if c.From != shown.Version {
						t.Fatalf("a change from %s, and shown is %s", c.From, shown.Version)
					}
				}
				live := slices.Concat(c.Holders, c.Waiters)
				entries := c.Entries
				for _, e := range shown.Entries {
					if slices.Contains(live, e.Key) && !slices.ContainsFunc(c.Entries, func(n shownEntry) bool { return n.Key == e.Key }) {
						entries = append(entries, e)
					}
				}
				c.Entries = entries
				shown = c
			}
		}
	}
	for i := range 5 {
		lock := f.hold(fmt.Sprintf("/other/%d", i), fmt.Sprint("short ", i))
		apply(func(s shownTree) bool { return s.has(fmt.Sprint("short ", i)) })
		if err := lock.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		apply(func(s shownTree) bool { return len(s.Holders) == 1 })
	}
	waits := f.wait("/dir1/a", "rename")
	apply(func(s shownTree) bool { return s.has("rename") && s.entry(t, "import").WaitedFor == 1 })
	fresh := f.tree()
	if fresh.Version != shown.Version || len(fresh.Entries) != len(shown.Entries) || fmt.Sprint(fresh.entry(t, "rename")) != fmt.Sprint(shown.entry(t, "rename")) {
		t.Errorf("shown is %+v, there is %+v", shown, fresh)
	}
	if changes < 11 || wholes > 0 {
		t.Errorf("%d changes and %d wholes, want 11 changes", changes, wholes)
	}
	if err := kept.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err != nil {
		t.Errorf("the waiter: %v", err)
	}
}

// The store is read while somebody looks, no more often for many, and not at all soon after.
func TestTheStoreIsReadOnlyWhileSomebodyLooks(t *testing.T) {
	config := anybody()
	config.Poll = 10 * time.Millisecond
	f := newFixture(t, config)
	var streams []*stream
	for range 20 {
		s := f.stream("?namespace=testplan&id=7")
		s.await("tree")
		streams = append(streams, s)
	}
	began, before := time.Now(), f.store.looks()
	for f.store.looks() < before+20 {
		time.Sleep(time.Millisecond)
	}
	n := f.store.looks() - before
	if most := int(time.Since(began)/config.Poll) + 2; n > most {
		t.Errorf("%d looks for 20 viewers, want up to %d", n, most)
	}
	for _, s := range streams {
		s.close()
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		before := f.store.looks()
		time.Sleep(10 * config.Poll)
		if f.store.looks() == before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the store is still read after everybody has gone")
		}
	}
}

func TestTroubleIsShownAndEnds(t *testing.T) {
	f := newFixture(t, anybody())
	s := f.stream("?namespace=testplan&id=7")
	s.await("tree")
	f.store.failBy(pathlock.ErrUnavailable)
	if data := s.await("trouble"); !strings.Contains(string(data), `"what":"tree"`) || !strings.Contains(string(data), "does not answer") {
		t.Errorf("trouble: %s", data)
	}
	for before := f.store.looks(); f.store.looks() < before+3; time.Sleep(time.Millisecond) {
		continue // further looks fail, too
	}
	if n := strings.Count(f.log.String(), "a look at the locks failed"); n != 1 {
		t.Errorf("the log says so %d times", n)
	}
	f.store.failBy(nil)
	for {
		if event, _ := s.next(); event == "tree" || event == "change" {
			return
		} else if event == "" {
			t.Fatal("the stream ended")
		}
	}
}

func TestAStreamTellsThatTheHistoryHasChanged(t *testing.T) {
	f := newFixture(t, anybody())
	s := f.stream("")
	s.await("trees")
	lock := f.hold("/dir1", "import")
	waits := f.wait("/dir1", "rename")
	s.await("history")
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err != nil {
		t.Errorf("the waiter: %v", err)
	}
	var h struct {
		Episodes []struct {
			Path     string
			Waits    int
			Blockers []struct{ Note string }
		}
		ByRoute []struct{ Route string } `json:"by_route"`
	}
	f.get("/api/history?sort=longest", &h)
	if len(h.Episodes) != 1 || h.Episodes[0].Path != "/dir1" || h.Episodes[0].Waits != 1 || len(h.Episodes[0].Blockers) != 1 || h.Episodes[0].Blockers[0].Note != "import" {
		t.Errorf("history: %+v", h)
	}
	f.send("GET", "/admin/locks/api/history?sort=drop%20table", "").problem(t, 400, "invalid-request")
}

func TestTheNumberOfViewersIsBounded(t *testing.T) {
	config := anybody()
	config.MaxViewers = 2
	f := newFixture(t, config)
	first, _ := f.stream("?namespace=testplan&id=7"), f.stream("?namespace=testplan&id=8")
	f.send("GET", "/admin/locks/api/events", "").problem(t, 503, "too-many-viewers")
	// Whoever polls watches trees too.
	f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=9", "").problem(t, 503, "too-many-viewers")
	first.close()
	for deadline := time.Now().Add(10 * time.Second); f.send("HEAD", "/admin/locks/api/events", "").StatusCode != http.StatusOK; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a viewer that has gone still counts")
		}
	}
}

// Who asks for many trees, one after the other, keeps nobody from seeing theirs.
func TestLooksAtManyTreesKeepNobodyOut(t *testing.T) {
	config := anybody()
	config.MaxViewers = 3
	f := newFixture(t, config)
	f.hold("/dir1", "import")
	watching := f.stream("?namespace=testplan&id=7")
	watching.await("tree")
	for i := range 20 {
		if r := f.send("GET", fmt.Sprintf("/admin/locks/api/tree?namespace=madeup&id=%d", i), ""); r.StatusCode != http.StatusOK {
			t.Fatalf("the look at tree %d: %d %s", i, r.StatusCode, r.body)
		}
	}
	for _, path := range []string{"/api/trees", "/api/tree?namespace=testplan&id=7", "/api/tree?namespace=testplan&id=8"} {
		if r := f.send("GET", "/admin/locks"+path, ""); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
	f.hold("/dir2", "later")
	for event, data := watching.next(); !strings.Contains(string(data), "later"); event, data = watching.next() {
		if event == "" {
			t.Fatal("the stream of the tree with a viewer has ended")
		}
	}
}

func TestAStreamEndsInTime(t *testing.T) {
	config := anybody()
	config.StreamFor = 50 * time.Millisecond
	f := newFixture(t, config)
	s := f.stream("")
	s.await("bye")
	if event, _ := s.next(); event != "" {
		t.Errorf("then comes %q", event)
	}
}

func TestCloseEndsStreams(t *testing.T) {
	f := newFixture(t, anybody())
	s := f.stream("?namespace=testplan&id=7")
	s.await("tree")
	f.page.Close()
	s.await("bye")
	f.send("GET", "/admin/locks/api/about", "").problem(t, 503, "closed")
	f.page.Close()
}

// A store that hangs keeps nobody from stopping.
func TestCloseEndsRequestsThatWaitForTheStore(t *testing.T) {
	f := newFixture(t, anybody())
	f.store.hang = make(chan struct{})
	answer := make(chan reply)
	go func() { answer <- f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "") }()
	<-f.store.hang
	f.page.Close()
	r := <-answer
	if r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%d %s, want 503", r.StatusCode, r.body)
	}
}

// A server's deadlines for reading and writing end requests, and not streams.
func TestAStreamOutlivesTheServersDeadlines(t *testing.T) {
	f := newFixture(t, anybody())
	strict := httptest.NewUnstartedServer(f.page)
	strict.Config.ReadTimeout, strict.Config.WriteTimeout = time.Second, time.Second
	strict.Start()
	t.Cleanup(strict.Close)
	t.Cleanup(f.page.Close)
	f.server = strict
	s := f.stream("?namespace=testplan&id=7")
	s.await("tree")
	time.Sleep(1500 * time.Millisecond)
	f.hold("/dir1", "late")
	if data := s.await("change"); !strings.Contains(string(data), "late") {
		t.Errorf("%s", data)
	}
}
