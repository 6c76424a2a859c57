package contender

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/net/webdav"

	"github.com/pathlock-go/pathlock"
)

// webdavMemory is the Go team's lock system for WebDAV. It has exclusive locks of infinite depth,
// like X on a node, with leases and tokens. Nobody can wait in it.
func webdavMemory() Contender {
	return Contender{
		Name: WebDAV, Module: "golang.org/x/net", Excludes: true, Shares: true,
		What: "webdav.NewMemLS: a lock of infinite depth on the leaf",
		Open: func(context.Context, Server) (Locks, error) {
			return &webdavLocks{trees: make(map[string]webdav.LockSystem)}, nil
		},
	}
}

type webdavLocks struct {
	mu    sync.Mutex
	trees map[string]webdav.LockSystem
}

func (l *webdavLocks) Lock(tree string, leaf pathlock.Path) (Lock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	system := l.trees[tree]
	if system == nil {
		system = webdav.NewMemLS()
		l.trees[tree] = system
	}
	return &webdavLock{system: system, details: webdav.LockDetails{Root: leaf.String(), Duration: lease}}, nil
}

func (l *webdavLocks) Close() error { return nil }

type webdavLock struct {
	system  webdav.LockSystem
	details webdav.LockDetails
	token   string
}

func (l *webdavLock) Acquire(context.Context) error {
	token, err := l.system.Create(time.Now(), l.details)
	if errors.Is(err, webdav.ErrLocked) {
		return errors.Join(ErrHeld, err)
	}
	l.token = token
	return err
}

func (l *webdavLock) Release(context.Context) error { return l.system.Unlock(time.Now(), l.token) }
