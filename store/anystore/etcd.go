package anystore

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/pathlock-go/pathlock/store/etcdstore"
)

// openEtcd opens a store in etcd.
func openEtcd(_ context.Context, url string, _ options) (opened, error) {
	if err := checkHosts(url); err != nil {
		return opened{}, err
	}
	store, err := etcdstore.Open(url)
	if err != nil {
		return opened{}, err
	}
	return opened{store: store, close: store.Close}, nil
}

// etcdRefusals are what an etcd answers that does not serve.
var etcdRefusals = []struct {
	err   error
	means string
}{
	{rpctypes.ErrAuthFailed, "refuses the user or the password"},
	{rpctypes.ErrUserEmpty, "refuses the user or the password"},
	{rpctypes.ErrUserNotFound, "refuses the user or the password"},
	{rpctypes.ErrAuthNotEnabled, "has no users"},
	{rpctypes.ErrPermissionDenied, "does not let the user do what locks need"},
	{rpctypes.ErrNoSpace, "is out of space, and takes no writes"},
	{rpctypes.ErrNoLeader, "is a cluster without a leader"},
}

// etcdTrouble says what an etcd's error means.
func etcdTrouble(err error) (means string, ok bool) {
	for _, r := range etcdRefusals {
		if errors.Is(err, r.err) {
			return r.means, true
		}
	}
	_, ok = errors.AsType[rpctypes.EtcdError](err)
	return "", ok
}
