package pubsub

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// Pulse is how long the connection may be silent before it is pinged, and how long the answer may
// take. A server that has gone without closing its connections is noticed in twice that time.
const Pulse = 3 * time.Second

// How long a subscription that was lost waits before it is made again: a moment, in which the
// client learns who serves the channel now, and twice as long after each attempt that failed.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Listen starts the subscription, which lasts until [Listener.Close], and reports whether the
// server is known to have it. Until it has, messages are missed; when it has, every waiter is told
// to ask again.
func (l *Listener) Listen() (established bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun && l.ctx.Err() == nil {
		l.begun = true
		l.running.Go(l.run)
	}
	return l.established
}

// run keeps the subscription up until the listener is closed.
func (l *Listener) run() {
	for pause := firstPause; l.ctx.Err() == nil; pause = min(2*pause, lastPause) {
		if l.receive() {
			pause = firstPause
		}
		l.setEstablished(false)
		l.Relocate(l.ctx)
		// Processes that have lost their subscriptions together do not all come back at once.
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-l.ctx.Done():
		}
	}
}

// receive makes the subscription, and hands on what the server says until the first fault. It
// reports whether the server had the subscription.
//
// The client would repair a connection by itself, but it takes a ping that was sent for one that
// was answered.
func (l *Listener) receive() (established bool) {
	subscription := l.client.Subscribe(l.ctx) // to nothing: it does not connect yet
	defer func() { _ = subscription.Close() }()
	stop := context.AfterFunc(l.ctx, func() { _ = subscription.Close() })
	defer stop()
	if bounded(l.ctx, func(ctx context.Context) error { return subscription.Subscribe(ctx, l.Channel) }) != nil {
		return false
	}
	for pinged := false; ; {
		event, err := subscription.ReceiveTimeout(l.ctx, Pulse)
		var network net.Error
		switch e := event.(type) {
		case *redis.Message:
			l.deliver(e.Payload)
		case *redis.Subscription:
			established = true
			l.setEstablished(true)
		case *redis.Pong:
			if !pinged {
				return established // a time-out in the middle of a message has put the client out of step
			}
			pinged = false
		default:
			silent := errors.As(err, &network) && network.Timeout()
			if !established || pinged || !silent || bounded(l.ctx, func(ctx context.Context) error { return subscription.Ping(ctx) }) != nil {
				return established
			}
			pinged = true
			// Another node may have failed, and those who wait in its trees will ask again.
			l.Relocate(l.ctx)
		}
	}
}

// Relocate has the client of a cluster find out anew which node has which slots.
func (l *Listener) Relocate(ctx context.Context) {
	if cluster, ok := l.client.(*redis.ClusterClient); ok && ctx.Err() == nil {
		cluster.ReloadState(ctx)
	}
}

func bounded(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Pulse)
	defer cancel()
	return do(ctx)
}

// setEstablished notes whether the server has the subscription. When it has, the waiters are told
// that messages may have been missed before.
func (l *Listener) setEstablished(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.established = yes
	for _, w := range l.waiters {
		if yes {
			w.hear(Message{Kind: Again})
		}
	}
}

// Close ends the subscription, and returns when its goroutine has ended.
func (l *Listener) Close() {
	l.close()
	l.running.Wait()
}
