package ownhost_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pathlock-go/pathlock/internal/ownhost"
)

func TestARequestNamesOneOfTheServersNames(t *testing.T) {
	loopback, wide := "127.0.0.1", "192.0.2.7"
	listed := ownhost.New("Locks.example.com", "other.example.com:8443")
	for _, tt := range []struct {
		names    ownhost.Names
		arrives  string
		host     string
		accepted bool
	}{
		{ownhost.New(), loopback, "localhost", true},
		{ownhost.New(), loopback, "localhost.:8080", true},
		{ownhost.New(), loopback, "app.localhost:8080", true},
		{ownhost.New(), loopback, "[::1]", true},
		{ownhost.New(), "::1", "evil.example", false},
		{ownhost.New(), loopback, "evillocalhost", false},
		{ownhost.New(), loopback, "", true},
		{ownhost.New(), wide, "evil.example", true}, // whoever resolves it knows the address
		{listed, wide, "LOCKS.example.com:9000", true},
		{listed, wide, "other.example.com:8443", true},
		{listed, wide, "other.example.com", false},
		{listed, loopback, "localhost", false},
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(tt.arrives)})
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		r.Host = tt.host
		if got := tt.names.Are(r); got != tt.accepted {
			t.Errorf("%v, to %s, Host %q: %v", tt.names, tt.arrives, tt.host, got)
		}
	}
}

func TestANameIsNoURL(t *testing.T) {
	for name, valid := range map[string]bool{"a.example:80": true, "": false, "https://a.example": false, "u@a": false} {
		if ownhost.Valid(name) != valid {
			t.Errorf("%q: valid is not %v", name, valid)
		}
	}
}
