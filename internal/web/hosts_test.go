package web_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pathlock-go/pathlock/internal/web"
)

// The tests of package admin have servers with listed names.
func TestNames_onLoopbackAreLocalhost(t *testing.T) {
	loopback, wide := "127.0.0.1", "192.0.2.7"
	for _, tt := range []struct {
		arrives  string
		host     string
		accepted bool
	}{
		{loopback, "localhost", true},
		{loopback, "app.localhost:8080", true},
		{loopback, "[::1]", true},
		{"::1", "evil.example", false},
		{loopback, "evillocalhost", false},
		{loopback, "", true},
		{wide, "evil.example", true}, // whoever resolves it knows the address
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(tt.arrives)})
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		r.Host = tt.host
		if got := web.NewHosts().Are(r); got != tt.accepted {
			t.Errorf("to %s, Host %q: %v", tt.arrives, tt.host, got)
		}
	}
}
