package etcdstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

func TestURLs(t *testing.T) {
	l, err := parseURL("etcd://me:p%40ss@h1,h2:1234,[::1]/apps/locks?timeout=2s&max_txn_ops=500")
	testerr.Must(t, err)
	c := newConfig(l.options)
	if got, want := strings.Join(l.endpoints, " "), "http://h1:2379 http://h2:1234 http://[::1]:2379"; got != want {
		t.Errorf("endpoints %s, want %s", got, want)
	}
	if l.User != "me" || l.Password != "p@ss" || c.prefix != "/apps/locks" || c.timeout != 2*time.Second || c.maxOps != 500 || l.TLS != nil {
		t.Errorf("%+v, %+v", l, c)
	}
	if l, err = parseURL("etcds://h1?server_name=etcd"); err != nil || l.endpoints[0] != "https://h1:2379" || l.TLS.ServerName != "etcd" {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	ctx := t.Context()
	for _, do := range []func() error{
		func() error { _, err := client.UserAdd(ctx, "root", "root"); return err },
		func() error { _, err := client.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := client.UserAdd(ctx, "locker", "p@ss"); return err },
		func() error { _, err := client.RoleAdd(ctx, "locks"); return err },
		func() error {
			_, err := client.RoleGrantPermission(ctx, "locks", "/mine/", clientv3.GetPrefixRangeEnd("/mine/"), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := client.UserGrantRole(ctx, "locker", "locks"); return err },
		func() error { _, err := client.AuthEnable(ctx); return err },
	} {
		testerr.Must(t, do())
	}
	open := func(rawURL string) pathlock.Store {
		store, err := Open(rawURL)
		testerr.Must(t, err)
		t.Cleanup(func() { _ = store.Close(ctx) })
		return store
	}
	mine := open("etcd://locker:p%40ss@" + server.Addr + "/mine")
	req := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, mine, req)
	w := testlock.Queue(t, mine, testlock.Ask(req.Tree, x("/a")))
	testlock.Release(t, mine, req)
	w.Granted()
	testerr.None(t, mine.Ping(ctx))
	theirs := open("etcd://locker:p%40ss@" + server.Addr + "/theirs")
	testerr.Is(t, "without permission", testerr.Of(theirs.Acquire(ctx, req)), pathlock.ErrUnavailable)
	if _, err := Open("etcd://locker:wrong@" + server.Addr); !errors.Is(err, pathlock.ErrUnavailable) || strings.Contains(err.Error(), "wrong@") {
		t.Errorf("with a wrong password: %v, want what matches ErrUnavailable", err)
	}
}
