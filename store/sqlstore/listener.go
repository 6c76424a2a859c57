package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// listener hears the notifications of PostgreSQL on one connection for the whole process.
type listener struct {
	backend *backend
	connect func(context.Context) (*pgx.Conn, error)
}

const (
	// relisten is how long the listener waits before it listens again.
	relisten = time.Second
	// closing is how long it may take to close the connection.
	closing = 2 * time.Second
)

// newListener returns a listener, nil if nothing says how to connect: the pool's driver is not pgx.
func newListener(b *backend) *listener {
	if b.listener != nil {
		return &listener{b, b.listener}
	}
	if _, isPgx := b.db.Driver().(*stdlib.Driver); !isPgx {
		return nil
	}
	return &listener{b, b.connectAsPool}
}

// connectAsPool connects as the connections of the pool do.
func (b *backend) connectAsPool(ctx context.Context) (*pgx.Conn, error) {
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var config *pgx.ConnConfig
	err = conn.Raw(func(c any) error {
		one, isPgx := c.(*stdlib.Conn)
		if !isPgx {
			return fmt.Errorf("the connection is a %T", c)
		}
		config = one.Conn().Config()
		config.OnNotification = nil // it is that connection's
		return nil
	})
	if err := errors.Join(err, conn.Close()); err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, config)
}

// run listens until ctx ends. Whatever fails is tried again: the watcher looks for itself
// meanwhile.
func (l *listener) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		_ = l.once(ctx)
		l.backend.watcher.setListening(false)
		timer.Reset(relisten)
	}
}

// once listens on one connection until that is lost.
func (l *listener) once(ctx context.Context) error {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.backend.home}.Sanitize()); err != nil {
		return err
	}
	l.backend.watcher.setListening(true)
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if m, ok := parsePayload(n.Channel, n.Payload); ok {
			l.backend.watcher.wake(m)
		}
	}
}

// message tells a process that a ticket has changed.
type message struct {
	home  string
	tree  treeKey
	place uint64
}

// join returns messages as text, each a channel and a payload.
func join(messages []message) string {
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = m.home + " " + m.payload()
	}
	return strings.Join(texts, ",")
}

func (m message) payload() string { return fmt.Sprintf("%x/%d", m.tree, m.place) }

// parsePayload undoes payload. It takes nothing that payload does not return.
func parsePayload(home, payload string) (message, bool) {
	m := message{home: home}
	var tree []byte
	_, err := fmt.Sscanf(payload, "%x/%d", &tree, &m.place)
	copy(m.tree[:], tree)
	return m, err == nil && m.payload() == payload
}
