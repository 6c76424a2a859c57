package zkstore

import (
	"slices"
	"testing"
	"time"
)

func TestOpen(t *testing.T) {
	for url, want := range map[string]struct {
		servers        []string
		root           string
		user, password string
		timeout        time.Duration
		tls            bool
	}{
		"zk://h": {servers: []string{"h:2181"}, root: DefaultRoot, timeout: DefaultTimeout},
		"zk://h1,h2:2182,[::1]:2183/a/b?timeout=30s&max_packet=7": {
			servers: []string{"h1:2181", "h2:2182", "[::1]:2183"}, root: "/a/b", timeout: 30 * time.Second,
		},
		"zks://u%40x:p%3A%2F%2C@h/": {
			servers: []string{"h:2181"}, root: DefaultRoot, user: "u@x", password: "p:/,", timeout: DefaultTimeout, tls: true,
		},
	} {
		servers, opts, err := parse(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		c := newConfig(opts)
		if !slices.Equal(servers, want.servers) || c.root != want.root || c.user != want.user ||
			c.password != want.password || c.timeout != want.timeout || (c.tls != nil) != want.tls {
			t.Errorf("%s: servers %q, root %q, user %q, password %q, timeout %v, TLS %v; want %+v",
				url, servers, c.root, c.user, c.password, c.timeout, c.tls != nil, want)
		}
	}
}
