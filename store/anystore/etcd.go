package anystore

import (
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

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
