package lockstore

import (
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	tests := []struct{ url, password, where, err string }{
		{url: "memory://", where: "memory:// (this process only)"},
		{url: "off://", where: "off:// (no locks)"},
		{url: "redis://127.0.0.1:6379/0", where: "redis://127.0.0.1:6379/0"},
		{url: "redis://user:secret@127.0.0.1:6379/0?pool_size=3", where: "redis://127.0.0.1:6379/0"},
		{url: "rediss://:secret@redis.example:6380", where: "rediss://redis.example:6380"},
		{url: "redis+cluster://user:secret@h1:1,h2:2,h3:3", where: "redis+cluster://h1:1,h2:2,h3:3"},
		{url: "redis+sentinel://main@h1,h2", where: "redis+sentinel://main@h1,h2"},
		{url: "redis+sentinel://user:secret@main@h1,h2", where: "redis+sentinel://main@h1,h2"},
		{url: "redis+sentinel://h1,h2", err: "name"},
		{url: "redis://user:secret@127.0.0.1:port", err: "redis URL"},
		{url: "zk://127.0.0.1:2181", err: Supported},
		{url: "redis:/:secret@127.0.0.1:6379/0", err: Supported},
		{url: "redis:secret@127.0.0.1:6379/0", err: Supported},
		{url: "secret@redis://127.0.0.1:6379/0", err: Supported},
		{url: "redis://:12/secret@127.0.0.1:6379/0", err: "%2F"},
		{url: "redis://:12#secret@127.0.0.1:6379/0", err: "%23"},
		{url: "redis://:12?secret@127.0.0.1:6379/0", err: "%3F"},
		{url: "redis+cluster://u:12#secret@h1,h2", err: "%23"},
		{url: "redis+cluster://u:12/secret@h1,h2", err: "%2F"},
		{url: "redis+sentinel://u:12/secret@main@h1,h2", err: "%2F"},
		{url: "redis+sentinel://u:12#secret@main@h1,h2", err: "%23"},
		{url: "redis://127.0.0.1:6379/0", password: "secret/#?@%:", where: "redis://127.0.0.1:6379/0"},
		{url: "redis://user@127.0.0.1:6379/0?pool_size=3", password: "secret/#?@%:", where: "redis://127.0.0.1:6379/0"},
		{url: "redis+cluster://h1,h2", password: "secret/#?@%:", where: "redis+cluster://h1,h2"},
		{url: "redis+sentinel://main@h1,h2", password: "secret/#?@%:", where: "redis+sentinel://main@h1,h2"},
		{url: "redis+sentinel://user@main@h1,h2", password: "secret/#?@%:", where: "redis+sentinel://main@h1,h2"},
		{url: "redis://:secret@127.0.0.1", password: "secret", err: "must not have one"},
		{url: "memory://", password: "secret", err: "only a redis"},
		{url: "memory", err: Supported},
		{url: "", err: Supported},
	}
	for _, tt := range tests {
		store, err := Open(t.Context(), tt.url, tt.password)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Open(%q): error %v, want one that says %q and no secret", tt.url, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("Open(%q): %v", tt.url, err)
			continue
		}
		if store.Where != tt.where {
			t.Errorf("Open(%q) says it is %q, want %q", tt.url, store.Where, tt.where)
		}
		if err := store.Close(); err != nil {
			t.Errorf("Close of %q: %v", tt.url, err)
		}
	}
}
