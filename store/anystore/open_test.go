package anystore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/store/anystore"
)

// opening is a URL, and what comes of it: what the store is shown as, or what the error says.
type opening struct{ url, password, shown, err string }

func TestURLsThatNameAStore(t *testing.T) {
	for _, tt := range []opening{
		{url: "memory://", shown: "memory:// (this process only)"},
		{url: "off://", shown: "off:// (no locks)"},
		{url: "redis://127.0.0.1:6379/0", shown: "redis://127.0.0.1:6379/0"},
		{url: "redis://user:secret@127.0.0.1:6379/0?pool_size=3", shown: "redis://127.0.0.1:6379/0"},
		{url: "rediss://:secret@redis.example:6380", shown: "rediss://redis.example:6380"},
		{url: "redis+cluster://user:secret@h1:1,h2:2,h3:3", shown: "redis+cluster://h1:1,h2:2,h3:3"},
		{url: "redis+sentinel://main@h1,h2", shown: "redis+sentinel://main@h1,h2"},
		{url: "redis+sentinel://user:secret@main@h1,h2", shown: "redis+sentinel://main@h1,h2"},
		{url: "redis://127.0.0.1:6379/0", password: "secret/#?@%:", shown: "redis://127.0.0.1:6379/0"},
		{url: "redis://user@127.0.0.1:6379/0?pool_size=3", password: "secret/#?@%:", shown: "redis://127.0.0.1:6379/0"},
		{url: "redis+cluster://h1,h2", password: "secret/#?@%:", shown: "redis+cluster://h1,h2"},
		{url: "redis+sentinel://main@h1,h2", password: "secret/#?@%:", shown: "redis+sentinel://main@h1,h2"},
		{url: "redis+sentinel://user@main@h1,h2", password: "secret/#?@%:", shown: "redis+sentinel://main@h1,h2"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			store, err := anystore.Open(t.Context(), tt.url, anystore.WithPassword(tt.password))
			if err != nil {
				t.Fatal(err)
			}
			if store.String() != tt.shown {
				t.Errorf("it is shown as %q, want %q", store, tt.shown)
			}
			if scheme, _, _ := strings.Cut(tt.url, ":"); store.Scheme() != scheme {
				t.Errorf("its scheme is %q, want %q", store.Scheme(), scheme)
			}
			if err := store.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// Whatever is wrong with a URL, and wherever its password is, the error says what, and quotes no
// part of the URL.
func TestURLsThatNameNone(t *testing.T) {
	const supported = "supported are memory://, "
	for _, tt := range []opening{
		{url: "", err: supported},
		{url: "memory", err: supported},
		{url: "secret", err: supported},
		{url: "secret://127.0.0.1", err: supported},
		{url: "secret@redis://127.0.0.1:6379/0", err: supported},
		{url: "://secret", err: supported},

		{url: "redis:/:secret@127.0.0.1:6379/0", err: supported},
		{url: "redis:secret@127.0.0.1:6379/0", err: supported},
		{url: "redis://user:secret@127.0.0.1:port", err: "redis URL"},
		{url: "redis://:12/secret@127.0.0.1:6379/0", err: "%2F"},
		{url: "redis://:12#secret@127.0.0.1:6379/0", err: "%23"},
		{url: "redis://:12?secret@127.0.0.1:6379/0", err: "%3F"},
		{url: "redis+cluster://u:12#secret@h1,h2", err: "%23"},
		{url: "redis+cluster://u:12/secret@h1,h2", err: "%2F"},
		{url: "redis+sentinel://h1,h2", err: "name"},
		{url: "redis+sentinel://u:12/secret@main@h1,h2", err: "%2F"},
		{url: "redis+sentinel://u:12#secret@main@h1,h2", err: "%23"},

		{url: "redis://:secret@127.0.0.1", password: "secret", err: "must not have one"},
		{url: "redis+sentinel://u:secret@main@h1", password: "secret", err: "must not have one"},
		{url: "memory://", password: "secret", err: "memory:// is a lock store without a password"},
		{url: "off://", password: "secret", err: "off:// is a lock store without a password"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			_, err := anystore.Open(t.Context(), tt.url, anystore.WithPassword(tt.password))
			if !errors.Is(err, anystore.ErrURL) || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want an ErrURL that says %q and no secret", err, tt.err)
			}
		})
	}
}
