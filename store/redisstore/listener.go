package redisstore

import (
	"context"
	crand "crypto/rand"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// listener learns which waiters of a store have been granted. All share one subscription.
type listener struct {
	client redis.UniversalClient
	// channel is the store's own: it, and no other, is told there what it waits for.
	channel string

	ctx     context.Context // over when the listener is closed
	end     context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	last    uint64 // the last number of a waiter that was given out
	waiters map[string]*waiter
	// The subscription is begun when the first waiter begins to wait.
	begun, established bool
}

// waiter is one call that waits.
type waiter struct {
	number string
	// questions counts what the call has asked.
	questions uint64
	// heard gets the messages to the waiter. It drops one that has no room, since any message may
	// be missed.
	heard chan message
}

// The kinds of messages. Each but messageAgain ends the wait.
const (
	// messageGranted: the request has been granted.
	messageGranted = "granted"
	// messageDeadlock: granting the request would need an owner that waits for the one that asks.
	messageDeadlock = "deadlock"
	// messageRemoved: the request's place in the queue was taken away by force.
	messageRemoved = "removed"
	// messageAgain: what blocks the request may go without a message, or sooner than the waiter
	// was told; or messages may have been missed.
	messageAgain = "again"
)

// message is what a script publishes to a waiter.
type message struct {
	kind string
	// question is the number of the last question that had reached the server from the waiter when
	// it sent the message.
	question uint64
	// number is the fence of a grant, or the number of the claim that leads to a deadlock.
	number uint64
	// owner is the other one in a deadlock.
	owner pathlock.Owner
}

// isOutdated reports whether the message is about an earlier place in the queue than that of the
// question with that number: what was granted then has ended since. Force is meant for every place.
func (m message) isOutdated(place uint64) bool { return m.question < place && m.kind != messageRemoved }

// newListener returns a listener on a channel.
func newListener(client redis.UniversalClient, channel string) *listener {
	l := &listener{client: client, channel: channel, waiters: make(map[string]*waiter)}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// join makes a waiter known. Call it before the request is sent, so that no message comes too
// early. [listener.leave] has to follow.
func (l *listener) join() *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	w := &waiter{number: strconv.FormatUint(l.last, 10), heard: make(chan message, 8)}
	l.waiters[w.number] = w
	return w
}

// leave forgets a waiter.
func (l *listener) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiters, w.number)
}

// question returns the number of the waiter's next question, and the reference that messages to the
// waiter carry from then on.
func (w *waiter) question() (ref string, number uint64) {
	w.questions++
	return w.number + "." + strconv.FormatUint(w.questions, 10), w.questions
}

// deliver hands a message to its waiter. A message is a kind, the reference of a question, and for
// some kinds a number and an owner.
func (l *listener) deliver(payload string) {
	fields := append(strings.SplitN(payload, " ", 4), "", "", "")
	waiter, question, _ := strings.Cut(fields[1], ".")
	m := message{kind: fields[0], owner: pathlock.Owner(fields[3])}
	m.question, _ = strconv.ParseUint(question, 10, 64)
	m.number, _ = strconv.ParseUint(fields[2], 10, 64)

	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.waiters[waiter]; w != nil {
		w.hear(m)
	}
}

func (w *waiter) hear(m message) {
	select {
	case w.heard <- m:
	default:
	}
}

// pulse is how long the connection may be silent before it is pinged, and how long the answer may
// take. A server that has gone without closing its connections is noticed in twice that time.
const pulse = 3 * time.Second

// How long a lost subscription waits before it is made again: first a moment, in which the client
// learns who serves the channel now, then twice as long after each failed attempt.
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

// relocate makes the client of a cluster find out anew which node has which slots.
func (l *listener) relocate(ctx context.Context) {
	if cluster, ok := l.client.(clusterClient); ok && ctx.Err() == nil {
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
