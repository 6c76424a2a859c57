// Package doctor looks for settings of lock stores and databases under which locks are lost, are
// waited for in vain, or are not granted at all.
//
// [Examine] asks the servers, with the rights of the user of the URL, and changes nothing that
// anybody else uses. A report consists of a [Finding] for each thing looked at. What could not be
// looked at is a finding, too: [Unknown].
//
// What a server has said of itself are facts, and tables of rules say what they mean.
package doctor

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// Level says how much a [Finding] matters.
type Level uint8

const (
	// Fine means that it is as it should be.
	Fine Level = iota
	// Advice means that nothing is wrong, and that something could be better.
	Advice
	// Unknown means that it could not be looked at, for want of a right or of an answer.
	Unknown
	// Warning means that locks may be lost or delayed if something else goes wrong, too. The tree
	// in the database stays right.
	Warning
	// Problem means that locks are lost or not granted, or that a tree can break, as things are.
	Problem
)

// String returns the level's name in lower case: "problem".
func (l Level) String() string {
	return [...]string{"fine", "advice", "unknown", "warning", "problem"}[min(l, Problem)]
}

// MarshalText implements [encoding.TextMarshaler] with [Level.String].
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is one thing that was looked at.
type Finding struct {
	Level Level `json:"level"`
	// About is what was looked at: the address of a server, or the name of a table.
	About string `json:"about"`
	// Check names what was looked for: "eviction".
	Check string `json:"check"`
	// Is says how it is.
	Is string `json:"is"`
	// Means says what follows from that. It is empty if all is fine.
	Means string `json:"means,omitempty"`
	// Change says what to do about it, if there is something to do.
	Change string `json:"change,omitempty"`
	// Statements do it in SQL, in this order.
	Statements []string `json:"statements,omitempty"`
}

// Report is the result of an examination, the most important findings first.
type Report struct{ Findings []Finding }

// answerCheck is the check whether a server answers.
const answerCheck = "answer"

// Unanswered reports whether a server that grants locks or holds trees did not answer at all.
func (r Report) Unanswered() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Check == answerCheck && f.Level == Problem })
}

// Stores are the lock stores that the command line knows.
var Stores = []anystore.Option{redisstore.Kind, sqlopen.Kind, zkstore.Kind, etcdstore.Kind}

// Subject is what to examine.
type Subject struct {
	// Locks is the URL of a lock store, and Kinds the stores that it may be. "" means none.
	Locks string
	Kinds []anystore.Option
	// DB is a database with trees. nil means none.
	DB      *sql.DB
	Dialect fsck.Dialect
	// Table holds the trees. nil means that the server alone is examined.
	Table *fsck.Table
	// Nameless says that the programs' statements have no names on the server.
	Nameless bool
	// Patience is how long a server may take to answer one question. Defaults to five seconds.
	Patience time.Duration
}

// Examine examines a lock store, a database, and whether the programs on the database have that
// lock store. The error matches [anystore.ErrURL] if the URL names no lock store. A server that
// does not answer is a finding.
func Examine(ctx context.Context, s Subject) (Report, error) {
	s.Patience = cmp.Or(s.Patience, 5*time.Second)
	e := &exam{Subject: s}
	var store *anystore.Store
	if s.Locks != "" {
		var err error
		store, err = anystore.Open(ctx, s.Locks, append(s.Kinds, anystore.WithoutTables())...)
		switch {
		case errors.Is(err, anystore.ErrURL):
			return Report{}, err
		case err != nil: // an etcd with users refuses to log in
			e.unanswered("the lock store", err)
		default:
			defer Close(ctx, store)
			e.locks(ctx, store)
		}
	}
	if s.DB != nil {
		e.database(ctx)
		if store != nil && !e.Unanswered() {
			e.same(ctx, store)
		}
	}
	slices.SortStableFunc(e.Findings, func(a, b Finding) int { return int(b.Level) - int(a.Level) })
	return e.Report, ctx.Err()
}

// exam is an examination under way.
type exam struct {
	Subject
	Report
	// members is how many members the quorum has that is examined, 0 for any other store.
	members int
}

// found adds a finding.
func (e *exam) found(level Level, about, check, is, means, change string) {
	e.Findings = append(e.Findings, Finding{Level: level, About: about, Check: check, Is: is, Means: means, Change: change})
}

// fine adds that something is as it should be.
func (e *exam) fine(about, check, is string) { e.found(Fine, about, check, is, "", "") }

// unknown adds that something could not be looked at. The error is a server's.
func (e *exam) unknown(about, check string, err error, change string) {
	e.found(Unknown, about, check, fmt.Sprintf("not examined: %v", err), "whether it is right is unknown", change)
}

// unanswered adds that a server does not serve.
func (e *exam) unanswered(about string, err error) {
	e.found(Problem, about, answerCheck, fmt.Sprintf("it does not serve: %v", err), "the lock store "+anystore.Trouble(err)+": nothing is granted",
		"check that the server runs and accepts more clients, and that the URL, its TLS, the user and the password are right")
}

// Within calls f with a context that ends after a time. If f fails then, that is the error.
func Within(ctx context.Context, patience time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %v", patience))
	defer cancel()
	err := f(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// answer is what a server answers within its time.
func answer[T any](ctx context.Context, e *exam, f func(context.Context) (T, error)) (got T, err error) {
	err = Within(ctx, e.Patience, func(ctx context.Context) (err error) {
		got, err = f(ctx)
		return err
	})
	return got, err
}
