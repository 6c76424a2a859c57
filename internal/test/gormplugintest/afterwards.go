package gormplugintest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// notes collects what functions after a transaction were told, in the order of their calls.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

// String returns the notes.
func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.lines, ", ")
}

// commit returns a function for AfterCommit.
func (n *notes) commit(name string) func(context.Context) {
	return func(context.Context) { n.add(name) }
}

// end returns a function for AfterEnd.
func (n *notes) end(name string) func(context.Context, gormplugin.Outcome) {
	return func(_ context.Context, outcome gormplugin.Outcome) { n.add(name + " " + outcomeNames[outcome]) }
}

var outcomeNames = map[gormplugin.Outcome]string{
	gormplugin.Committed: "committed", gormplugin.RolledBack: "rolled back", gormplugin.Unknown: "unknown",
}

// register registers one function of each kind under a name.
func (w *world) register(tx *gorm.DB, n *notes, name string) {
	w.Helper()
	w.must(gormplugin.AfterCommit(tx, n.commit(name)))
	w.must(gormplugin.AfterEnd(tx, n.end(name)))
}

// told checks what was noted.
func (w *world) told(n *notes, want string) {
	w.Helper()
	if got := n.String(); got != want {
		w.Errorf("told %q, want %q", got, want)
	}
}

// afterwardsChecks are about what the state machine does not see of the functions: how a
// transaction ends beside it, what they may do, and what they are given.
func afterwardsChecks() []check {
	return []check{
		{"the end of the context, whose panic ends nothing else", func(w *world) {
			n, ended := new(notes), make(chan struct{})
			ctx, cancel := context.WithCancel(w.Context())
			tx := w.db.WithContext(ctx).Begin()
			w.suiteIn(tx, "a")
			w.register(tx, n, "a")
			w.must(gormplugin.AfterEnd(tx, func(ctx context.Context, _ gormplugin.Outcome) {
				n.add(fmt.Sprint(ctx.Err(), w.paths(), w.held()))
				close(ended)
				panic(errStop)
			}))
			cancel()
			<-ended
			w.fails(tx.Commit().Error, context.Canceled)
			w.told(n, "a rolled back, <nil>")
		}},
		{"the way back to a savepoint that a procedure has set", func(w *world) {
			if w.db.Name() != "mysql" {
				return // procedures of others set none
			}
			w.must(w.db.Exec("CREATE PROCEDURE sets_one() SAVEPOINT s").Error)
			n, tx := new(notes), w.db.Begin()
			w.register(tx, n, "a")
			w.must(tx.Exec("CALL sets_one()").Error)
			w.must(tx.RollbackTo("s").Error)
			w.must(tx.Commit().Error)
			w.told(n, "a unknown")
			w.fails(gormplugin.AfterEnd(tx, n.end("b")), sql.ErrTxDone)
			w.fails(gormplugin.AfterEnd(w.db, n.end("b")), gormplugin.ErrUnmanagedTransaction)
		}},
		{"it may write, on the one connection, under the locks of the request", func(w *world) {
			n := new(notes)
			pool, err := w.db.DB()
			w.must(err)
			pool.SetMaxOpenConns(1)
			lock, err := w.locker.Acquire(w.Context(), pathlock.Request{Tree: w.tree(), Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}})
			w.must(err)
			defer func() { w.must(lock.Release(context.Background())) }()
			ctx, cancel := context.WithCancel(lock.Context())
			defer cancel()
			w.must(w.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				a := &Suite{ParentID: &w.root.ID, Name: "a"}
				w.must(tx.Create(a).Error)
				return gormplugin.AfterCommit(tx, func(ctx context.Context) {
					cancel()
					w.must(w.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
						w.must(gormplugin.AfterCommit(tx, n.commit("then")))
						return tx.Create(&Suite{ParentID: &a.ID, Name: "b"}).Error
					}))
					w.fails(tx.WithContext(w.Context()).Create(&Suite{ParentID: &a.ID, Name: "c"}).Error, sql.ErrTxDone)
				})
			}))
			w.told(n, "then")
			w.has("/a", "/a/b")
		}},
	}
}
