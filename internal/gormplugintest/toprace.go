package gormplugintest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/offstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// checkTopRaces has many write at the top of one tree, under a lock store that grants everything.
func checkTopRaces(t *testing.T, d Database) {
	t.Run("and no assertion", func(t *testing.T) {
		if d.SoleWriter {
			t.Skip("the one writer at a time sees what is in its way")
		}
		s := settings{store: offstore.New(), options: []gormplugin.Option{gormplugin.WithoutAssertion()}}
		w := newWorld(t, d, s)
		k := tops{world: w, topKind: topKinds()[0], number: rand.Int64N(1 << 50)}
		reads := newReadsFirst()
		session := w.db.Session(&gorm.Session{Logger: reads})
		errs := make([]error, 2)
		var done sync.WaitGroup
		for i, name := range []string{"", "a"} {
			done.Go(func() {
				errs[i] = session.WithContext(context.WithValue(t.Context(), turnKey{}, i)).Create(k.row(nil, name)).Error
				reads.end(i)
			})
		}
		done.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if len(k.committed(d)) == 0 {
			t.Error("not corrupted, though neither has seen what the other writes")
		}
	})
	t.Run("storm", func(t *testing.T) { checkTopStorm(t, d) })
}

// readsFirst is a logger that holds up each of two statements after a read until the other has read
// as often, or has ended. So neither sees what the other writes.
type readsFirst struct {
	logger.Interface
	mu    sync.Mutex
	turns *sync.Cond
	reads [2]int
	over  [2]bool
}

func newReadsFirst() *readsFirst {
	r := &readsFirst{Interface: logger.Discard}
	r.turns = sync.NewCond(&r.mu)
	return r
}

// LogMode implements [logger.Interface].
func (r *readsFirst) LogMode(logger.LogLevel) logger.Interface { return r }

// Trace implements [logger.Interface].
func (r *readsFirst) Trace(ctx context.Context, _ time.Time, statement func() (string, int64), _ error) {
	turn, ok := ctx.Value(turnKey{}).(int)
	sql, _ := statement()
	if !ok || !strings.HasPrefix(strings.TrimLeft(sql, "("), "SELECT") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads[turn]++
	r.turns.Broadcast()
	for r.reads[1-turn] < r.reads[turn] && !r.over[1-turn] {
		r.turns.Wait()
	}
}

// end says that a statement is over.
func (r *readsFirst) end(turn int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over[turn] = true
	r.turns.Broadcast()
}

// committed says what is wrong with what is committed of the tree, whatever the session's isolation
// level is.
func (k tops) committed(d Database) (found []string) {
	k.Helper()
	if d.SoleWriter {
		return k.problems(k.db)
	}
	k.must(k.db.Transaction(func(tx *gorm.DB) error {
		found = k.problems(tx)
		return nil
	}, &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: true}))
	return found
}

// addTop counts one statement's outcome; the rule may refuse it.
func (o *outcome) addTop(t *testing.T, err error) {
	t.Helper()
	// At READ UNCOMMITTED, a root row may be seen before its path of ids is written.
	if errors.Is(err, gormplugin.ErrRootRow) || errors.Is(err, gormplugin.ErrUnsupported) {
		o.refused++
		return
	}
	o.add(t, err)
}

// checkTopStorm has workers write at the top of one tree, in transactions of one to three
// statements.
func checkTopStorm(t *testing.T, d Database) {
	const workers = 4
	each := 60
	if d.SoleWriter {
		each = 25
	}
	for _, kind := range topKinds() {
		t.Run(reflect.TypeOf(kind.model).Name(), func(t *testing.T) {
			w := newWorld(t, d, settings{store: offstore.New()})
			k := tops{world: w, topKind: kind, number: rand.Int64N(1 << 50)}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			outcomes := make([]outcome, workers)
			var all sync.WaitGroup
			for i := range workers {
				all.Go(func() {
					random := rand.New(rand.NewPCG(seed, uint64(i)))
					for range each {
						outcomes[i].addTop(t, gormplugin.Transaction(t.Context(), w.db, func(tx *gorm.DB) error {
							for range 1 + random.IntN(3) {
								err := k.anything(tx, random)
								if err != nil && (errors.Is(err, gormplugin.ErrRetry) || !errors.Is(err, gormplugin.ErrRootRow)) {
									return err
								}
							}
							return nil
						}))
						for _, problem := range k.committed(d) {
							t.Errorf("seed %d: %s", seed, problem)
						}
					}
				})
			}
			all.Wait()
			report(t, outcomes)
		})
	}
}

// anything does one random thing at the top of the tree.
func (k tops) anything(tx *gorm.DB, random *rand.Rand) error {
	stmt := &gorm.Statement{DB: tx}
	if err := stmt.Parse(k.new()); err != nil {
		return err
	}
	tree := reflect.ValueOf(k.row(nil, "")).Elem().FieldByName(k.domain).Interface()
	of := func(db *gorm.DB) *gorm.DB {
		return db.Model(k.new()).Where(map[string]any{stmt.Schema.LookUpField(k.domain).DBName: tree}).Order("id")
	}
	rows := reflect.New(reflect.SliceOf(reflect.TypeOf(k.model)))
	if err := of(tx).Find(rows.Interface()).Error; err != nil {
		return err
	}
	n := rows.Elem().Len()
	some := func() any { return k.id(rows.Elem().Index(random.IntN(n)).Addr().Interface()) }
	name := fmt.Sprintf("n%d", random.IntN(8))
	switch do := random.IntN(8); {
	case n == 0 || do == 0:
		return tx.Create(k.row(nil, [2]string{"", name}[random.IntN(2)])).Error
	case do == 1:
		return tx.Create(k.row(nil, name)).Error
	case do == 2:
		return tx.Create(k.row(some(), name)).Error
	case do == 3:
		return k.set(tx, some(), nil)
	case do == 4 && k.soft:
		dead := reflect.New(rows.Elem().Type())
		if err := of(tx).Unscoped().Where("deleted IS NOT NULL").Find(dead.Interface()).Error; err != nil || dead.Elem().Len() == 0 {
			return err
		}
		return k.restore(tx, k.id(dead.Elem().Index(random.IntN(dead.Elem().Len())).Addr().Interface()))
	default:
		return tx.Delete(k.new(), "id IN ?", []any{some(), some()}).Error
	}
}
