package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore"
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
	stores, end, err := e.openTwo(ctx, url, password)
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
	if scheme := stores[0].Scheme(); scheme == "memory" || scheme == "off" {
		e.found(Warning, about, "store", "no other program sees the locks of this store", "programs that share a tree are not kept apart", "give the programs a lock store that they share")
		return nil
	}
	var tries bool
	switch store := one.(type) {
	case *redisstore.Store:
		tries = e.redis(ctx, about, store)
	case *sqlstore.Store:
		tries = e.sqlLocks(ctx, about, stores[0].Scheme(), store)
	case *etcdstore.Store:
		tries = e.etcd(ctx, about, store)
	default: // ZooKeeper, and a store of the program's own
		if err := e.ask(ctx, store.Ping); err != nil {
			e.unanswered(about, err)
			return nil
		}
		e.fine(about, answerCheck, "it serves")
		tries = true
	}
	if tries {
		e.probe(ctx, about, one, other)
	}
	return nil
}

// quorum examines the members of a quorum. What is a problem of a store by itself is none of a
// minority of members.
func (e *exam) quorum(ctx context.Context, url, password string) error {
	const about = "the quorum"
	members := strings.Split(strings.TrimPrefix(url, "quorum:"), "|")
	stores, end, err := e.openTwo(ctx, url, password)
	switch {
	case errors.Is(err, anystore.ErrURL):
		return err
	case err != nil:
		e.unanswered(about, err)
		return nil
	}
	defer end()
	e.members = len(members)
	var failing []int
	for i, member := range members {
		begin := len(e.findings)
		if err := e.locks(ctx, member, password); err != nil {
			return fmt.Errorf("member %d of the quorum: %w", i+1, err)
		}
		if slices.ContainsFunc(e.findings[begin:], func(f Finding) bool { return f.Level == Problem }) {
			failing = append(failing, i+1)
		}
	}
	is := fmt.Sprintf("%d of %d have problems: %v", len(failing), len(members), failing)
	switch spare := (len(members)-1)/2 - len(failing); {
	case len(failing) == 0:
	case spare < 0:
		e.found(Problem, about, "members", is, "no majority is sound: nothing is granted, or locks are lost", "mend the members: see their findings")
	default:
		for i := range e.findings {
			f := &e.findings[i]
			f.Level, f.Means = min(f.Level, Warning), strings.ReplaceAll(f.Means, "nothing is granted", "this member grants nothing")
		}
		e.found(Warning, about, "members", is, fmt.Sprintf("locks are granted, and %d more members may fail", spare), "mend the members: see their findings")
	}
	// The methods of members make their tables, so the trial is for those whose tables are there.
	if !slices.ContainsFunc(e.findings, func(f Finding) bool { return f.Check == "tables" && f.Level >= Warning }) {
		e.probe(ctx, about, stores[0].Store, stores[1].Store)
	}
	return nil
}

// How long the stores may take to end, and how long if the command was interrupted.
const (
	closing = 10 * time.Second
	hurried = 200 * time.Millisecond
)

// Close closes lock stores, or nil, in which nothing is held that would have to be given back.
func Close(ctx context.Context, stores ...*anystore.Store) {
	within := closing
	if ctx.Err() != nil {
		within = hurried
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	for _, store := range stores {
		if store != nil {
			_ = store.Close(ctx) // what a trial has left behind ends with its lease
		}
	}
}

// openTwo opens a lock store twice, as two processes do. The caller calls end, unless there is an
// error.
func (e *exam) openTwo(ctx context.Context, url, password string) (stores [2]*anystore.Store, end func(), err error) {
	end = func() { Close(ctx, stores[:]...) }
	opts := append([]anystore.Option{anystore.WithPassword(password), anystore.WithoutTables()}, e.Stores...)
	for i := range stores {
		if stores[i], err = anystore.Open(ctx, url, opts...); err != nil {
			stores[i] = nil
			end()
			return stores, nil, err
		}
	}
	return stores, end, nil
}

// MissingFile reports whether a URL names a lock store in a SQLite file that does not exist, and
// which file that is. To open it would create it.
func MissingFile(url string) (file string, missing bool) {
	path, ok := strings.CutPrefix(url, "sqlite://")
	path, _, _ = strings.Cut(path, "?")
	if !ok || path == "" || path == ":memory:" {
		return "", false
	}
	file = path + "-locks" // as package anystore calls it
	_, err := os.Stat(file)
	return file, errors.Is(err, fs.ErrNotExist)
}
