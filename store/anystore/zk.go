package anystore

import (
	"context"

	"github.com/pathlock-go/pathlock/store/zkstore"
)

// openZK opens a store in a ZooKeeper ensemble.
func openZK(_ context.Context, url string) (opened, error) {
	if err := checkHosts(url); err != nil {
		return opened{}, err
	}
	store, err := zkstore.Open(url)
	if err != nil {
		return opened{}, err
	}
	return opened{store: store, close: store.Close}, nil
}

// zkRefusals are what a ZooKeeper server answers that does not serve.
var zkRefusals = []refusal{
	{"the credentials are refused", "refuses the user or the password"},
	{"the ACL does not allow it", "does not let the user do what locks need"},
	{"the ACL is not valid", "does not let the user do what locks need"},
	{"a quota is exceeded", "has a quota that is exceeded"},
}

// zkTrouble says what a ZooKeeper server's error means. Others it does not know.
func zkTrouble(err error) (means string, ok bool) {
	means = meaning(err.Error(), zkRefusals)
	return means, means != ""
}
