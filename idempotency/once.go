package idempotency

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// Key names what [Once] does once.
type Key struct {
	// Scope names the consumer, and whose ID it is, such as "billing: orders". It is required: of
	// two consumers of one message with one scope, only the first one would do anything. Scopes of
	// requests, from [Config.Scope], have separate keys, even if the text is the same.
	Scope string
	// ID is the same for all deliveries of a message, or all tries of a job. It is required, and
	// may have any length.
	ID string
	// Payload is what the ID stands for, such as the body of the message, or nil. The error matches
	// [ErrReused] if the ID was used for another one. The table has a hash of it.
	Payload []byte
}

// Once runs fn in a transaction on the database of keys, and returns its result, which is committed
// together with what fn has written in tx. A repetition gets the recorded result, decoded from
// JSON, and does not run fn.
//
// It is for message consumers, jobs and other work that may arrive more than once without HTTP. It
// shares the table, its clean-up and the bounds of [Config] with requests: a repetition waits for
// up to Wait while another one runs, then the error matches [ErrInUse]; the result is kept for
// Keep. If the process is killed before the commit, a repetition runs once Lease is over.
//
// After an error of fn, or a panic, nothing is written or recorded, and a repetition runs. The same
// is true of a result of more than [Config.MaxAnswer] bytes. After any other error, send the key
// again: if the answer to the COMMIT was lost, the repetition gets the result. The error matches
// [ErrTakenOver] if fn took longer than Lease and a repetition has taken its place: then nothing of
// it was committed.
//
// fn runs in [gormplugin.Transaction], which may run it several times. Its effects outside of tx
// happen at least once. The DB needs no plugin, unless fn writes guarded tables.
func Once[T any](ctx context.Context, keys *Keys, key Key, fn func(tx *gorm.DB) (T, error)) (result T, err error) {
	if key.Scope == "" || key.ID == "" {
		return result, errors.New("idempotency: the key has no scope, or no ID")
	}
	r := &request{keys: keys, id: hash("once", key.Scope, key.ID), attempt: rand.Text()}
	found, err := keys.claim(ctx, r, hash(string(key.Payload)))
	if err != nil {
		return result, err
	}
	if found != nil {
		if err := json.Unmarshal(found.Body, &result); err != nil {
			return result, fmt.Errorf("idempotency: a recorded result: %w", err)
		}
		return result, nil
	}
	committed := false
	defer func() {
		if !committed {
			r.giveBack(ctx)
		}
	}()
	err = gormplugin.Transaction(ctx, keys.session(ctx), func(tx *gorm.DB) (err error) {
		if result, err = fn(tx); err != nil {
			return err
		}
		return r.recordResult(tx, result)
	})
	if committed = err == nil; !committed {
		var none T
		return none, err
	}
	return result, nil
}

// recordResult writes a result into the transaction of its effect.
func (r *request) recordResult(tx *gorm.DB, result any) error {
	body, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("idempotency: recording a result: %w", err)
	}
	k := r.keys
	if len(body) > k.config.MaxAnswer {
		return fmt.Errorf("idempotency: a result of %d bytes is too large to be recorded (Config.MaxAnswer)", len(body))
	}
	return r.note(tx.Session(&gorm.Session{NewDB: true}), k.sql.record, 0, "", body, k.config.Keep.Milliseconds(), r.id, r.attempt)
}

// giveBack gives the key back, unless the transaction was committed after all: this waits for one
// that is still on its way.
func (r *request) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if _, err := r.keys.exec(ctx, r.keys.sql.release, r.id, r.attempt); err != nil {
		r.keys.config.Log.WarnContext(ctx, "idempotency: a key is free only when its lease has ended", slog.Any("error", err))
	}
}
