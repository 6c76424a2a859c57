package gormplugintest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

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

// requestKey is the key of a value of the request's context.
type requestKey struct{}

// afterwardsEnds are ways in which transactions end that the state machine does not know.
func afterwardsEnds() []check {
	return []check{
		{"a hook of a statement's own transaction", func(w *world) {
			n := new(notes)
			w.must(w.db.Callback().Create().Before("gorm:after_create").Register("test:hook", func(tx *gorm.DB) {
				w.must(gormplugin.AfterCommit(tx.Session(&gorm.Session{NewDB: true}), func(context.Context) {
					n.add(w.paths() + " holds " + w.held() + " after " + w.trace.String())
				}))
			}))
			w.trace.reset()
			w.suite(w.root, "a")
			w.told(n, "/a holds  after grant begin commit release")
			other := &Other{}
			w.must(w.db.Create(other).Error)
			w.told(n, "/a holds  after grant begin commit release, /a holds  after grant begin commit release begin commit")
		}},
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
		{"tries of a statement that were given up", func(w *world) {
			n, tries := new(notes), 0
			w.must(w.db.Callback().Create().Before("gorm:after_create").Register("test:retry", func(tx *gorm.DB) {
				w.register(tx, n, "a")
				if tries++; tries < 3 {
					_ = tx.AddError(gormplugin.ErrRetry)
				}
			}))
			w.suite(w.root, "a")
			w.told(n, "a rolled back, a rolled back, a, a committed")
			w.has("/a")
		}},
	}
}

// afterwardsCalls are about the functions themselves, and where they are registered.
func afterwardsCalls() []check {
	return []check{
		{"the context has the values, and does not end", func(w *world) {
			ctx, cancel := context.WithCancel(context.WithValue(w.Context(), requestKey{}, "the request's"))
			defer cancel()
			called := false
			w.must(w.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				return gormplugin.AfterCommit(tx, func(ctx context.Context) {
					called = true
					cancel()
					if ctx.Value(requestKey{}) != "the request's" || ctx.Err() != nil {
						w.Errorf("%v, %v", ctx.Value(requestKey{}), ctx.Err())
					}
				})
			}))
			if !called {
				w.Error("not called")
			}
		}},
		{"it may write", func(w *world) {
			n := new(notes)
			pool, err := w.db.DB()
			w.must(err)
			pool.SetMaxOpenConns(1)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				a := &Suite{ParentID: &w.root.ID, Name: "a"}
				w.must(tx.Create(a).Error)
				return gormplugin.AfterCommit(tx, func(ctx context.Context) {
					w.must(w.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
						w.must(gormplugin.AfterCommit(tx, n.commit("then")))
						return tx.Create(&Suite{ParentID: &a.ID, Name: "b"}).Error
					}))
					w.fails(tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error, sql.ErrTxDone)
				})
			}))
			w.told(n, "then")
			w.has("/a", "/a/b")
		}},
		{"the locks of the request stay", func(w *world) {
			lock, err := w.locker.Acquire(w.Context(), pathlock.Request{Tree: w.tree(), Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}})
			w.must(err)
			defer func() { w.must(lock.Release(context.Background())) }()
			w.must(w.db.WithContext(lock.Context()).Transaction(func(tx *gorm.DB) error {
				a := &Suite{ParentID: &w.root.ID, Name: "a"}
				w.must(tx.Create(a).Error)
				return gormplugin.AfterCommit(tx, func(ctx context.Context) {
					w.must(w.db.WithContext(ctx).Create(&Suite{ParentID: &a.ID, Name: "b"}).Error)
				})
			}))
			w.has("/a", "/a/b")
		}},
		{"rows that are still open at the commit", func(w *world) {
			w.must(w.db.Create([]Other{{Name: "x"}, {Name: "y"}, {Name: "z"}}).Error)
			for what, ctx := range map[string]context.Context{
				"without a function": w.Context(),
				"with one":           gormplugin.WithBeforeCommit(w.Context(), func(tx *gorm.DB) error { return tx.Create(&Other{Name: "before"}).Error }),
			} {
				row := new(Other)
				tx := w.db.WithContext(ctx).Begin()
				w.must(tx.Create(row).Error)
				rows, err := tx.Model(&Other{}).Rows()
				w.must(err)
				if !rows.Next() {
					w.Errorf("%s: no rows", what)
				}
				defer func() { _ = errors.Join(rows.Err(), rows.Close()) }() // the commit closes them
				w.must(tx.Commit().Error)
				if found := w.db.Limit(1).Find(new(Other), row.ID).RowsAffected; found != 1 {
					w.Errorf("%s: the row is not there", what)
				}
			}
		}},
	}
}

// checkAfterwards checks what is called after a transaction, and right before its commit.
func checkAfterwards(t *testing.T, d Database) {
	for _, c := range slices.Concat(afterwardsEnds(), afterwardsCalls(), beforeCommitChecks()) {
		t.Run(c.name, func(t *testing.T) { c.run(newWorld(t, d, settings{})) })
	}
}
