package redisstore

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// listener hears on one subscription, shared by all waiters of a store, which of them have been
// granted. It subscribes when the first of them begins to wait and unsubscribes a
// moment after the last has gone.
type listener struct {
	client  redis.UniversalClient
	channel string
	linger  time.Duration

	mu     sync.Mutex
	closed bool
	// last is the last reference that was given out.
	last uint64
	// byRef and byKey have the waiters; those who wait for the same grant share a reference.
	byRef map[string][]*waiter
	byKey map[waitKey]string
	// stop ends the subscription, if there is one, and idle will call it.
	stop context.CancelFunc
	idle *time.Timer
	// subscribed is set while the subscription is known to be there.
	subscribed bool
	// running are the goroutines that have, or had, a subscription.
	running sync.WaitGroup
}

// waitKey identifies a request: the same one may be made by two callers at once.
type waitKey struct {
	tree  pathlock.Tree
	owner pathlock.Owner
	grant pathlock.GrantID
}

// waiter is one call that waits.
type waiter struct {
	key waitKey
	// ref is what messages to the waiter carry.
	ref string
	// heard gets the one message that ends the wait.
	heard chan message
	// again says that a message may have been missed.
	again chan struct{}
	// claim is the number of the claim that was last in the way.
	claim int
}

// message is what a script publishes to a waiter.
type message struct {
	kind string
	// number is the fence of a grant, or the number of the claim that leads to a deadlock.
	number uint64
	// owner is the other one in a deadlock.
	owner pathlock.Owner
}

func newListener(client redis.UniversalClient, channel string, linger time.Duration) *listener {
	return &listener{
		client:  client,
		channel: channel,
		linger:  linger,
		byRef:   make(map[string][]*waiter),
		byKey:   make(map[waitKey]string),
	}
}

// join makes a waiter known before its request is sent, so that no message to it can come too early.
func (l *listener) join(key waitKey) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	ref, ok := l.byKey[key]
	if !ok {
		l.last++
		ref = strconv.FormatUint(l.last, 10)
		l.byKey[key] = ref
	}
	w := &waiter{key: key, ref: ref, heard: make(chan message, 1), again: make(chan struct{}, 1)}
	l.byRef[ref] = append(l.byRef[ref], w)
	if l.idle != nil {
		l.idle.Stop()
		l.idle = nil
	}
	return w
}

// leave forgets a waiter.
func (l *listener) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var others []*waiter
	for _, other := range l.byRef[w.ref] {
		if other != w {
			others = append(others, other)
		}
	}
	if len(others) > 0 {
		l.byRef[w.ref] = others
		return
	}
	delete(l.byRef, w.ref)
	delete(l.byKey, w.key)
	if len(l.byRef) == 0 && l.stop != nil {
		l.idle = time.AfterFunc(l.linger, l.unsubscribeIdle)
	}
}

// alone reports whether no other call waits for the same grant.
func (l *listener) alone(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byRef[w.ref]) <= 1
}

// listen sees to it that there is a subscription, and reports whether it is there already. Until it
// is, messages are missed; then every waiter asks again.
func (l *listener) listen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop == nil && !l.closed {
		ctx, stop := context.WithCancel(context.Background())
		l.stop = stop
		l.running.Go(func() { l.run(ctx) })
	}
	return l.subscribed
}

// run has a subscription until ctx ends. The client restores it after a loss of the connection.
func (l *listener) run(ctx context.Context) {
	subscription := l.client.Subscribe(ctx, l.channel)
	closed := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(closed)
		// The only error is that it is closed already.
		_ = subscription.Close()
	})()
	for event := range subscription.ChannelWithSubscriptions() {
		switch e := event.(type) {
		case *redis.Subscription:
			l.askAgain(ctx)
		case *redis.Message:
			l.deliver(e.Payload)
		}
	}
	<-closed
}

// askAgain tells every waiter that messages may have been missed: the subscription of ctx is there, or there again.
func (l *listener) askAgain(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	l.subscribed = true
	for _, waiters := range l.byRef {
		for _, w := range waiters {
			select {
			case w.again <- struct{}{}:
			default: // it has been told
			}
		}
	}
}

// deliver hands a message to those it is for: kind, reference, and for some kinds a number and an owner.
func (l *listener) deliver(payload string) {
	kind, rest, _ := strings.Cut(payload, " ")
	ref, rest, _ := strings.Cut(rest, " ")
	number, owner, _ := strings.Cut(rest, " ")
	m := message{kind: kind, owner: pathlock.Owner(owner)}
	m.number, _ = strconv.ParseUint(number, 10, 64)

	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.byRef[ref] {
		select {
		case w.heard <- m:
		default: // one message ends the wait
		}
	}
}

// unsubscribeIdle ends the subscription if there is still nobody who waits.
func (l *listener) unsubscribeIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.byRef) == 0 && l.stop != nil {
		l.stop()
		l.stop, l.subscribed = nil, false
	}
}

// close ends the subscription for good and returns when its goroutine has ended.
func (l *listener) close() {
	l.mu.Lock()
	l.closed = true
	if l.idle != nil {
		l.idle.Stop()
	}
	if l.stop != nil {
		l.stop()
		l.stop, l.subscribed = nil, false
	}
	l.mu.Unlock()
	l.running.Wait()
}
