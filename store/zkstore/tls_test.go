package zkstore

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testzk"
)

// TestTLS: connections are encrypted, and the server has to be the one that its certificate names.
func TestTLS(t *testing.T) {
	server := testzk.Start(t)
	address, authorities := secure(t, server.Addr)
	tree := newTree(t)
	s := newStore(t, address, WithTLS(&tls.Config{RootCAs: authorities, ServerName: "example.com", MinVersion: tls.VersionTLS12}))
	req := ask(tree, x("/n"))
	take(t, s, req)
	holders(t, newStore(t, server.Addr), tree, 1)
	release(t, s, req)
	for name, config := range map[string]*tls.Config{
		"of another name":         {RootCAs: authorities, ServerName: "elsewhere.example", MinVersion: tls.VersionTLS12},
		"of an unknown authority": {ServerName: "example.com", MinVersion: tls.VersionTLS12},
	} {
		stranger := newStore(t, address, WithTLS(config), WithTimeout(3*time.Second))
		var why *tls.CertificateVerificationError
		if err := stranger.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) || !errors.As(err, &why) {
			t.Errorf("a server %s: %v, want ErrUnavailable with the reason", name, err)
		}
	}
}

// secure puts TLS before a server, for the name example.com.
func secure(t *testing.T, server string) (address string, authorities *x509.CertPool) {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	certificate, authority := certified.TLS.Certificates[0], certified.Certificate()
	certified.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { pass(client, server) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	authorities = x509.NewCertPool()
	authorities.AddCert(authority)
	return listener.Addr().String(), authorities
}

// pass passes on what both ends of a connection say.
func pass(client net.Conn, server string) {
	defer func() { _ = client.Close() }()
	upstream, err := net.Dial("tcp", server) //nolint:noctx // it ends with the client
	if err != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(client, upstream)
		_ = client.Close()
	}()
	_, _ = io.Copy(upstream, client)
	_ = upstream.Close()
	<-back
}
