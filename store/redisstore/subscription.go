package redisstore

import (
	"context"
	crand "crypto/rand"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/redis/go-redis/v9"
)

// pulse is how long the connection may be silent before it is pinged, and how long the answer may
// take. A server that has gone without closing its connections is noticed in twice that time.
const pulse = 3 * time.Second

// How long a subscription that was lost waits before it is made again: a moment, in which the
// client learns who serves the channel now, and twice as long after each attempt that failed.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// listen starts the subscription, which lasts until [listener.close], and reports whether the
// server is known to have it. Until it has, messages are missed; when it has, every waiter is told
// to ask again.
func (l *listener) listen() (established bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun && l.ctx.Err() == nil {
		l.begun = true
		l.running.Go(l.run)
	}
	return l.established
}

// run keeps the subscription up until the listener is closed.
func (l *listener) run() {
	// Processes that have lost their subscriptions together do not all come back at once. The
	// jitter comes from crypto/rand alone, so that a test can repeat it.
	pauses := backoff.ExponentialBackOff{InitialInterval: firstPause, MaxInterval: lastPause, Multiplier: 2}
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // it never fails
	jitter := rand.New(rand.NewChaCha8(seed))
	for l.ctx.Err() == nil {
		if l.receive() {
			pauses.Reset()
		}
		l.setEstablished(false)
		l.relocate(l.ctx)
		pause := pauses.NextBackOff()
		select {
		case <-time.After(pause/2 + time.Duration(jitter.Int64N(int64(pause)))):
		case <-l.ctx.Done():
		}
	}
}

// receive makes the subscription, and hands on what the server says until the first fault. It
// reports whether the server had the subscription.
//
// The client would repair a connection by itself, but it takes a ping that was sent for one that
// was answered.
func (l *listener) receive() (established bool) {
	subscription := l.client.Subscribe(l.ctx) // to nothing: it does not connect yet
	defer func() { _ = subscription.Close() }()
	stop := context.AfterFunc(l.ctx, func() { _ = subscription.Close() })
	defer stop()
	if bounded(l.ctx, func(ctx context.Context) error { return subscription.Subscribe(ctx, l.channel) }) != nil {
		return false
	}
	for pinged := false; ; {
		event, err := subscription.ReceiveTimeout(l.ctx, pulse)
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
			l.relocate(l.ctx)
		}
	}
}

// relocate has the client of a cluster find out anew which node has which slots.
func (l *listener) relocate(ctx context.Context) {
	if cluster, ok := l.client.(*redis.ClusterClient); ok && ctx.Err() == nil {
		cluster.ReloadState(ctx)
	}
}

func bounded(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, pulse)
	defer cancel()
	return do(ctx)
}

// setEstablished notes whether the server has the subscription. When it has, the waiters are told
// that messages may have been missed before.
func (l *listener) setEstablished(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.established = yes
	for _, w := range l.waiters {
		if yes {
			w.hear(message{kind: messageAgain})
		}
	}
}

// close ends the subscription, and returns when its goroutine has ended.
func (l *listener) close() {
	l.end()
	l.running.Wait()
}
