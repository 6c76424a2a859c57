package instance

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
)

// pipe is a listener with one connection, which is in memory.
type pipe struct {
	conns chan net.Conn
	end   chan struct{}
}

func (p pipe) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.end:
		return nil, net.ErrClosed
	}
}

func (p pipe) Close() error {
	close(p.end)
	return nil
}

func (pipe) Addr() net.Addr { return &net.UnixAddr{} }

func TestServe_AnswersARequestThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &Instance{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.WriteHeader(http.StatusServiceUnavailable)
		})}
		client, server := net.Pipe()
		conns := make(chan net.Conn, 1)
		conns <- server
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() {
			served <- i.Serve(ctx, pipe{conns, make(chan struct{})}, 0, slog.New(slog.DiscardHandler))
		}()
		if _, err := io.WriteString(client, "DELETE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatalf("the request got no answer: %v", err)
		}
		if _ = answer.Body.Close(); answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the answer is %s, want 503", answer.Status)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
