package admin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// large is a page that shows some megabytes: more than the buffers of a connection have room for.
func large(t *testing.T) *admin.Page {
	t.Helper()
	locks := &shownLocks{}
	for i := range 20000 {
		locks.now.Holders = append(locks.now.Holders, pathlock.Entry{
			Owner: "0123456789abcdef", Fence: uint64(i) + 1, Note: strings.Repeat("n", 300), Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))},
		})
	}
	page, err := admin.New(locks, anybody())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(page.Close)
	return page
}

// A client that reads nothing, or sends nothing, keeps nobody from stopping the server.
func TestCloseEndsWhateverAClientDoes(t *testing.T) {
	page := large(t)
	arrived := make(chan struct{}, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = told{r.Body, arrived}
		page.ServeHTTP(tells{w, arrived}, r)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	for _, what := range []string{
		"GET /admin/locks/api/tree?namespace=testplan&id=7 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /admin/locks/api/events?namespace=testplan&id=7 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /admin/locks/api/release HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		windowless("/admin/locks/openapi.json"),
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if err := conn.(*net.TCPConn).SetReadBuffer(2048); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, what); err != nil {
			t.Fatal(err)
		}
		<-arrived
	}
	began := time.Now()
	page.Close()
	// A slow body has five seconds, and each of the others three, or two times that.
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
}

// tells says when an answer begins, and told when somebody reads a body.
type tells struct {
	http.ResponseWriter
	begins chan struct{}
}

func (t tells) Write(b []byte) (int, error) {
	t.begins <- struct{}{}
	return t.ResponseWriter.Write(b)
}

func (t tells) Unwrap() http.ResponseWriter { return t.ResponseWriter }

type told struct {
	io.ReadCloser
	begins chan struct{}
}

func (t told) Read(b []byte) (int, error) {
	t.begins <- struct{}{}
	return t.ReadCloser.Read(b)
}

// windowless asks by HTTP/2, and gives the server no room for an answer.
func windowless(path string) string {
	frame := func(kind, flags, stream byte, payload string) string {
		return string([]byte{0, 0, byte(len(payload)), kind, flags, 0, 0, 0, stream}) + payload
	}
	settings := frame(4, 0, 0, "\x00\x04\x00\x00\x00\x00") // SETTINGS_INITIAL_WINDOW_SIZE is 0
	headers := frame(1, 5, 1, fmt.Sprintf("\x82\x86\x04%c%s\x01\x09localhost", len(path), path))
	return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings + headers
}

// deaf is a writer that something in front of the page has wrapped: it knows no deadlines, and its
// reader reads nothing.
type deaf struct {
	http.ResponseWriter
	writing, over chan struct{}
}

func (d deaf) Write([]byte) (int, error) {
	close(d.writing)
	<-d.over
	return 0, errors.New("gone")
}

func TestCloseEndsWithoutDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page, err := admin.New(pathlock.New(memstore.New()), anybody())
		if err != nil {
			t.Fatal(err)
		}
		d := deaf{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
		go page.ServeHTTP(d, httptest.NewRequestWithContext(context.WithoutCancel(t.Context()), "GET", "/admin/locks/api/about", nil))
		<-d.writing
		began := time.Now()
		page.Close()
		page.Close() // again is no error
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
		close(d.over)
		synctest.Wait()
	})
}

// The page's deadlines are none of the next request on the connection.
func TestDeadlinesEndWithTheAnswer(t *testing.T) {
	f := newFixture(t, anybody())
	f.hold("/dir1", "import")
	release := f.body("import")
	next := make(chan *deadlines, 1)
	f.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := &deadlines{ResponseWriter: w}
		f.page.ServeHTTP(d, r)
		next <- d
	})
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", f.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	answers := bufio.NewReader(conn)
	for _, ask := range []string{
		"GET /admin/locks/api/about HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /admin/locks/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n",
		fmt.Sprintf("POST /admin/locks/api/release HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(release), release),
	} {
		if _, err := io.WriteString(conn, ask); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		d := <-next
		if !d.limited || !d.write.IsZero() || !d.read.IsZero() {
			t.Errorf("%.30s: limited %v, and then %v for writing and %v for reading", ask, d.limited, d.write, d.read)
		}
	}
}

// deadlines notes what deadlines are set.
type deadlines struct {
	http.ResponseWriter
	limited     bool
	read, write time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error { d.read = at; return nil }

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.limited = d.limited || !at.IsZero()
	d.write = at
	return nil
}
