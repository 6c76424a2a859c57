package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dburl"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// Locks examines the lock store that a URL names, as [anystore.Open] reads it. The error matches
// [anystore.ErrURL] if the URL names none. A store that does not answer is a finding.
func Locks(ctx context.Context, url, password string, opts Options) (Report, error) {
	e := newExam(opts)
	if err := e.locks(ctx, url, password); err != nil {
		return Report{}, err
	}
	return Report{e.findings}, ctx.Err()
}

// locks examines one lock store.
func (e *exam) locks(ctx context.Context, url, password string) error {
	if strings.HasPrefix(url, "quorum:") {
		return e.quorum(ctx, url, password)
	}
	if file, missing := MissingFile(url); missing {
		e.found(Warning, "sqlite://"+file, "tables", "there is no such file yet", "no program has used this lock store", "see that the path is right, or start a program")
		return nil
	}
	stores, end, err := openTwo(ctx, url, password)
	switch {
	case errors.Is(err, anystore.ErrURL):
		return err
	case err != nil: // an etcd with users refuses to log in
		e.unanswered("the lock store", err)
		return nil
	}
	defer end()
	one, other := stores[0].Store, stores[1].Store
	about := stores[0].String()
	switch store := one.(type) {
	case *redisstore.Store:
		if !e.redis(ctx, url, about, store) {
			return nil
		}
	case *sqlstore.Store:
		if !e.sqlLocks(ctx, about, stores[0].Scheme(), store) {
			return nil
		}
	case *etcdstore.Store:
		if !e.etcd(ctx, about, store) {
			return nil
		}
	case *zkstore.Store:
		if !e.zooKeeper(ctx, url, about) {
			return nil
		}
	default:
		e.found(Warning, about, "store", "no other program sees the locks of this store", "programs that share a tree are not kept apart", "give the programs a lock store that they share")
		return nil
	}
	e.probe(ctx, about, one, other)
	return nil
}

// MissingFile reports whether a URL names a lock store in a SQLite file that does not exist, and
// which file that is. To open it would create it.
func MissingFile(url string) (file string, missing bool) {
	url, _, err := storeurl.CutTimeout(url)
	path, ok := strings.CutPrefix(url, "sqlite://")
	if !ok || err != nil || dburl.SQLite(path) != nil {
		return "", false
	}
	file = path + "-locks" // as package anystore calls it
	_, err = os.Stat(file)
	return file, errors.Is(err, fs.ErrNotExist)
}
