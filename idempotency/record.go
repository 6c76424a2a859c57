package idempotency

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// Answer is what a repetition of a request is answered.
type Answer struct {
	Status int
	// Header has the headers to record. Only those of [Config.Headers] and its defaults are.
	Header http.Header
	Body   []byte
}

// Record writes the answer of the request into the transaction of its effect: either both are
// committed, or none is. tx runs under the context of the request. Without a key, Record does
// nothing, so a handler need not know whether there is one. The handler still answers by itself,
// and should answer the same.
//
// Call it last in the transaction: from then on, repetitions may have to wait for the commit. Where
// a request has several transactions, call it in the last one.
//
// A body larger than [Config.MaxAnswer] is not recorded: repetitions are told that the request has
// taken place. An error has to roll the transaction back. It matches [ErrTakenOver] where a
// repetition has taken the place of the request, [ErrEnded] after its end, [ErrElsewhere] where tx
// is in another database than the table of keys, and [gormplugin.ErrUnmanagedTransaction] where tx
// is no transaction of the plugin's.
func Record(tx *gorm.DB, answer Answer) error {
	r := requestOf(tx.Statement.Context)
	if r == nil {
		return nil
	}
	k := r.keys
	headers, err := k.encode(answer.Header)
	if err != nil {
		return err
	}
	tx = tx.Session(&gorm.Session{NewDB: true})
	if len(answer.Body) > k.config.MaxAnswer {
		return r.note(tx, k.sql.mark, r.id, r.attempt)
	}
	if err := gormplugin.AfterCommit(tx, func(context.Context) { r.recorded.Store(true) }); err != nil {
		return fmt.Errorf("idempotency: recording an answer: %w", err)
	}
	return r.note(tx, k.sql.record, answer.Status, headers, answer.Body, k.config.Keep.Milliseconds(), r.id, r.attempt)
}

// RecordJSON is [Record] of what c.JSON(status, value) answers.
func RecordJSON(tx *gorm.DB, status int, value any) error {
	if requestOf(tx.Statement.Context) == nil {
		return nil
	}
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("idempotency: recording an answer: %w", err)
	}
	return Record(tx, Answer{Status: status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: body})
}

// encode returns the headers that are recorded, as text.
func (k *Keys) encode(all http.Header) (string, error) {
	kept := make(http.Header)
	for _, name := range k.headers {
		if values := all.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return "", fmt.Errorf("idempotency: recording an answer: %w", err)
	}
	return string(text), nil
}
