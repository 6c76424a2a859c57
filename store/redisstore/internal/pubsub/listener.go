package pubsub

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
)

// Listener hears which waiters of a store have been granted. Waiters share subscriptions: one for
// all trees or, where a cluster shards its messages, one for each tree with waiters. Subscriptions
// share connections, one to each node.
type Listener struct {
	client redis.UniversalClient
	// channels are the store's own.
	channels Channels
	// linger is how long a subscription outlives its last waiter.
	linger time.Duration

	// pubsub is the kind of pub/sub that is used: one of the constants in sharded.go.
	pubsub atomic.Int32

	mu     sync.Mutex
	closed bool
	// last is the last reference that was given out.
	last uint64
	// byRef has the waiters, and byKey their references. Waiters for the same grant share one.
	byRef map[string][]*Waiter
	byKey map[calls.Key]string
	// subscriptions are by channel, connections by node.
	subscriptions map[string]*subscription
	connections   map[string]*connection
	// running are the goroutines of subscriptions and connections.
	running sync.WaitGroup
}

// Channels names the channels on which one store, and no other, is told what it waits for.
type Channels struct {
	// All is the one for all trees.
	All string
	// Tree names the one for a tree, in the tree's slot.
	Tree func(pathlock.Tree) string
}

// Waiter is one call that waits.
type Waiter struct {
	key calls.Key
	// Ref is what messages to the waiter carry, followed by the number of its last question.
	Ref string
	// Heard gets the one message that ends the wait.
	Heard chan Message
	// Again says that a message may have been missed.
	Again chan struct{}
	// subscription is what the waiter hears by, once it has been routed.
	subscription *subscription
}

// The kinds of messages. Each but again ends the wait.
const (
	// Granted: the request has been granted.
	Granted = "granted"
	// Deadlock: granting the request would need an owner that waits for the one that asks.
	Deadlock = "deadlock"
	// Removed: the request's place in the queue was taken away by force.
	Removed = "removed"
	// again: what blocks the request may go without a message, or sooner than the waiter was told.
	again = "again"
)

// Message is what a script publishes to a waiter.
type Message struct {
	Kind string
	// Question is the number of the last question that the server had got from the waiter by then.
	Question uint64
	// Number is the fence of a grant, or the number of the claim that leads to a deadlock.
	Number uint64
	// Owner is the other one in a deadlock.
	Owner pathlock.Owner
}

// IsOutdated reports whether the message is about an earlier place in the queue than the one that a
// question with that number has got: what was granted then has ended since. Force is meant for
// every place.
func (m Message) IsOutdated(place uint64) bool { return m.Question < place && m.Kind != Removed }

// New returns a listener, whose subscriptions outlive their last waiters by linger.
func New(client redis.UniversalClient, channels Channels, linger time.Duration) *Listener {
	l := &Listener{
		client:        client,
		channels:      channels,
		linger:        linger,
		byRef:         make(map[string][]*Waiter),
		byKey:         make(map[calls.Key]string),
		subscriptions: make(map[string]*subscription),
		connections:   make(map[string]*connection),
	}
	if _, ok := client.(*redis.ClusterClient); !ok {
		l.pubsub.Store(plainPubSub)
	}
	return l
}

// Join makes a waiter known. Call it before the request is sent, so that no message comes too
// early. [Listener.Leave] has to follow.
func (l *Listener) Join(key calls.Key) *Waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	ref, ok := l.byKey[key]
	if !ok {
		l.last++
		ref = strconv.FormatUint(l.last, 10)
		l.byKey[key] = ref
	}
	w := &Waiter{key: key, Ref: ref, Heard: make(chan Message, 1), Again: make(chan struct{}, 1)}
	l.byRef[ref] = append(l.byRef[ref], w)
	return w
}

// Route gives a waiter the subscription to its tree's channel. Call it before the request is sent:
// from then on the waiter is told when messages may have been missed.
func (l *Listener) Route(w *Waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	channel := l.Channel(w.key.Tree)
	s := l.subscriptions[channel]
	if s == nil {
		s = &subscription{listener: l, channel: channel, waiters: make(map[*Waiter]bool), pause: firstPause}
		l.subscriptions[channel] = s
	}
	s.waiters[w] = true
	s.busy()
	w.subscription = s
}

// Leave forgets a waiter.
func (l *Listener) Leave(w *Waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := w.subscription; s != nil {
		delete(s.waiters, w)
		if len(s.waiters) == 0 {
			s.rest()
		}
	}
	var others []*Waiter
	for _, other := range l.byRef[w.Ref] {
		if other != w {
			others = append(others, other)
		}
	}
	if len(others) > 0 {
		l.byRef[w.Ref] = others
		return
	}
	delete(l.byRef, w.Ref)
	delete(l.byKey, w.key)
}

// Alone reports whether no other call waits for the same grant.
func (l *Listener) Alone(w *Waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byRef[w.Ref]) <= 1
}

// Listen starts a routed waiter's subscription, and reports whether it is established already.
// Until it is, messages are missed; when it is, every waiter is told to ask again.
func (l *Listener) Listen(w *Waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		w.subscription.begin()
	}
	return w.subscription.established
}

// deliver hands a message to its waiters. A message is a kind, a reference with the number of a
// question, and for some kinds a number and an owner.
func (l *Listener) deliver(payload string) {
	kind, rest, _ := strings.Cut(payload, " ")
	about, rest, _ := strings.Cut(rest, " ")
	number, owner, _ := strings.Cut(rest, " ")
	ref, question, _ := strings.Cut(about, ".")
	m := Message{Kind: kind, Owner: pathlock.Owner(owner)}
	m.Question, _ = strconv.ParseUint(question, 10, 64)
	m.Number, _ = strconv.ParseUint(number, 10, 64)

	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.byRef[ref] {
		if kind == again {
			select {
			case w.Again <- struct{}{}:
			default:
			}
			continue
		}
		w.hear(m)
	}
}

// hear keeps a message for the waiter. Of two, the later one counts, since the earlier one may be
// about a place in the queue that has gone. Only Removed outlasts all others.
func (w *Waiter) hear(m Message) {
	select {
	case w.Heard <- m:
		return
	default:
	}
	select {
	case earlier := <-w.Heard:
		if earlier.Kind == Removed {
			m = earlier
		}
	default: // it has been read meanwhile
	}
	w.Heard <- m
}

// Question returns the reference for the waiter's next question, and the question's number, which
// is greater than that of every earlier one.
func (l *Listener) Question(w *Waiter) (ref string, number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	return w.Ref + "." + strconv.FormatUint(l.last, 10), l.last
}

// Close ends all subscriptions for good and returns when their goroutines have ended.
func (l *Listener) Close() {
	l.mu.Lock()
	l.closed = true
	for _, s := range l.subscriptions {
		s.end()
	}
	l.mu.Unlock()
	l.Wait()
}

// Wait returns when there is no subscription any more.
func (l *Listener) Wait() { l.running.Wait() }
