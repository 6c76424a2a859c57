package histories

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// TestSend_toAnInstanceThatDies: the second request on a connection is read and not answered, and
// nobody listens any more. It may have been carried out.
func TestSend_toAnInstanceThatDies(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testerr.Must(t, err)
	go func() {
		conn, err := listener.Accept()
		testerr.None(t, err)
		in := bufio.NewReader(conn)
		for n := range 2 {
			testerr.None(t, testerr.Of(http.ReadRequest(in)))
			if n == 0 {
				_, err := fmt.Fprint(conn, "HTTP/1.1 204 No Content\r\n\r\n")
				testerr.None(t, err)
			}
		}
		testerr.None(t, listener.Close())
		testerr.None(t, conn.Close())
	}()
	at := &instance{SampleApp: new(testchild.SampleApp)}
	at.Addr = listener.Addr().String()
	c := &client{plan: new(plan), http: &http.Client{Transport: new(http.Transport)}, instances: []*instance{at}}
	defer c.http.CloseIdleConnections()
	w := input{do: "delete", node: id{false, 7}}
	if got := c.send(t.Context(), w, "a key", []int{0}); got.meaning != done {
		t.Fatalf("the first request: %+v", got)
	}
	if got := c.send(t.Context(), w, "a key", []int{0}); got.meaning != unknown {
		t.Errorf("the second request: %+v, want that nobody knows", got)
	}
}
