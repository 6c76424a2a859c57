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

// topRace is a pair of statements that are both right by themselves and wrong together, in a tree
// in which they have no row in common.
type topRace struct {
	name string
	soft bool
	// free is set where the first is a transaction, which would hold rows while it waits for the
	// other to be granted its locks.
	free   bool
	before func(k tops) []any
	first  func(k tops, tx *gorm.DB, ids []any) error
	other  func(k tops, tx *gorm.DB, ids []any) error
}

func topRaces() []topRace {
	create := func(name string) func(tops, *gorm.DB, []any) error {
		return func(k tops, tx *gorm.DB, _ []any) error { return tx.Create(k.row(nil, name)).Error }
	}
	nothing := func(tops) []any { return nil }
	deleted := func(names ...string) func(k tops) []any {
		return func(k tops) (ids []any) {
			for _, name := range names {
				id := k.put(nil, name)
				k.must(k.db.Delete(k.new(), "id = ?", id).Error)
				ids = append(ids, id)
			}
			return ids
		}
	}
	restore := func(n int) func(tops, *gorm.DB, []any) error {
		return func(k tops, tx *gorm.DB, ids []any) error { return k.restore(tx, ids[n]) }
	}
	return []topRace{
		{name: "a root row and another", before: nothing, first: create(""), other: create("a")},
		{name: "two root rows", before: nothing, first: create(""), other: create("")},
		{name: "a restored root row and another", soft: true, before: deleted(""), first: restore(0), other: create("a")},
		{name: "a root row and a restored one", soft: true, before: deleted("a"), first: create(""), other: restore(0)},
		{name: "two restored rows", soft: true, before: deleted("", "a"), first: restore(0), other: restore(1)},
		{name: "a root row once the others are gone, and a move to the top", free: true, before: func(k tops) []any {
			id := k.put(nil, "")
			return []any{id, k.put(id, "a")}
		}, first: func(k tops, tx *gorm.DB, ids []any) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				if err := tx.Delete(k.new(), "id = ?", ids[0]).Error; err != nil {
					return err
				}
				return tx.Create(k.row(nil, "")).Error
			})
		}, other: func(k tops, tx *gorm.DB, ids []any) error { return k.set(tx, ids[1], nil) }},
	}
}

// checkTopRaces runs the pairs at once, under a lock store that grants everything.
func checkTopRaces(t *testing.T, d Database) {
	for _, kind := range topKinds() {
		t.Run(reflect.TypeOf(kind.model).Name(), func(t *testing.T) {
			for _, race := range topRaces() {
				if race.soft && !kind.soft {
					continue
				}
				t.Run(race.name, func(t *testing.T) {
					tries := max(d.tries(t)/10, 3)
					t.Log(race.provoke(t, d, kind, tries, settings{store: offstore.New()}))
				})
			}
		})
	}
	t.Run("and no assertion", func(t *testing.T) {
		if d.SoleWriter {
			t.Skip("the one writer at a time sees what is in its way")
		}
		s := settings{store: offstore.New(), options: []gormplugin.Option{gormplugin.WithoutAssertion()}}
		w := newWorld(t, d, s)
		k := tops{world: w, topKind: topKinds()[0], number: rand.Int64N(1 << 50)}
		r := topRaces()[0]
		reads := newReadsFirst()
		session := w.db.Session(&gorm.Session{Logger: reads})
		errs := make([]error, 2)
		var done sync.WaitGroup
		for i, write := range []func(tops, *gorm.DB, []any) error{r.first, r.other} {
			done.Go(func() {
				errs[i] = write(k, session.WithContext(context.WithValue(t.Context(), turnKey{}, i)), nil)
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

// provoke runs the pair a number of times, each in a tree of its own: together, or both granted
// before one writes after the other.
func (r topRace) provoke(t *testing.T, d Database, kind topKind, tries int, s settings) outcome {
	t.Helper()
	m := new(meeting)
	s.observer = m
	w := newWorld(t, d, s)
	orders := []order{together, firstThenOther, otherThenFirst}
	var o outcome
	for try := range tries {
		k := tops{world: w, topKind: kind, number: rand.Int64N(1 << 50)}
		m.arrange(unarranged)
		ids := r.before(k)
		if !r.free {
			m.arrange(orders[try%len(orders)])
		}
		errs := make([]error, 2)
		var start, done sync.WaitGroup
		start.Add(1)
		for i, write := range []func(tops, *gorm.DB, []any) error{r.first, r.other} {
			done.Go(func() {
				start.Wait()
				errs[i] = write(k, w.db.WithContext(context.WithValue(t.Context(), turnKey{}, i)), ids)
				if !r.free {
					m.ended(i)
				}
			})
		}
		start.Done()
		done.Wait()
		for _, err := range errs {
			o.addTop(t, err)
		}
		m.arrange(unarranged)
		if found := k.committed(d); len(found) > 0 {
			o.corrupted++
			o.example = found
			t.Errorf("try %d: %v", try, found)
		}
	}
	if o.succeeded == 0 {
		t.Error("nothing succeeded")
	}
	return o
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
