package lockstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/store/anystore"
)

func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		url, password, where string
		off                  bool
	}{
		{url: "memory://", where: "memory:// (this process only)"},
		{url: "off://", where: "off:// (no locks)", off: true},
		{url: "redis://user@127.0.0.1:1/0", password: "secret", where: "redis://127.0.0.1:1/0"},
	} {
		store, err := Open(t.Context(), tt.url, tt.password)
		if err != nil {
			t.Fatalf("%s: %v", tt.url, err)
		}
		if store.Where != tt.where || store.Off != tt.off {
			t.Errorf("%s is shown as %q, off: %t, want %q, %t", tt.url, store.Where, store.Off, tt.where, tt.off)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A setting is not refused because a server is down, and an etcd with users has to be reached to
// open it.
func TestCheck(t *testing.T) {
	for _, url := range []string{"memory://", "redis://127.0.0.1:1/0", "etcd://user:secret@127.0.0.1:1/?timeout=100ms"} {
		if err := Check(url, ""); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := Check("redis://:12/secret@127.0.0.1", ""); !errors.Is(err, anystore.ErrURL) || strings.Contains(err.Error(), "secret") {
		t.Errorf("a malformed URL: %v, want an ErrURL without the secret", err)
	}
}
