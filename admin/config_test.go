package admin_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestNew_refusesAPageThatNobodyGuards(t *testing.T) {
	allowed := func(*http.Request) error { return nil }
	for _, tt := range []struct {
		what   string
		config admin.Config
		says   string
	}{
		{"no Authorize", admin.Config{}, "Authorize"},
		{"AuthorizeRelease alone", admin.Config{AuthorizeRelease: func(*http.Request) (string, error) { return "", nil }}, "Authorize"},
		{"a prefix without a slash", admin.Config{Authorize: allowed, Prefix: "admin"}, "Prefix"},
		{"a host with a scheme", admin.Config{Authorize: allowed, Hosts: []string{"https://a.example"}}, "host"},
		{"a poll without a unit", admin.Config{Authorize: allowed, Poll: 2}, "Poll"},
		{"a negative limit", admin.Config{Authorize: allowed, MaxTrees: -1}, "MaxTrees"},
	} {
		page, err := admin.New(pathlock.New(memstore.New()), tt.config)
		if page != nil || !errors.Is(err, admin.ErrConfig) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want ErrConfig that says %q", tt.what, err, tt.says)
		}
	}
}
