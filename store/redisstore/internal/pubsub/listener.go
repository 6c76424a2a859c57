package pubsub

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
)

// Listener hears which waiters of a store have been granted. All share one subscription.
type Listener struct {
	client redis.UniversalClient
	// Channel is the store's own: it, and no other, is told there what it waits for.
	Channel string

	ctx     context.Context // over when the listener is closed
	close   context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// last is the last reference that was given out.
	last uint64
	// byRef has the waiters, and byKey their references. Waiters for the same grant share one.
	byRef map[string][]*Waiter
	byKey map[calls.Key]string
	// The subscription is begun when the first waiter begins to wait.
	begun, established bool
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

// New returns a listener on a channel.
func New(client redis.UniversalClient, channel string) *Listener {
	l := &Listener{
		client: client, Channel: channel,
		byRef: make(map[string][]*Waiter), byKey: make(map[calls.Key]string),
	}
	l.ctx, l.close = context.WithCancel(context.Background())
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

// Leave forgets a waiter.
func (l *Listener) Leave(w *Waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byRef[w.Ref] = slices.DeleteFunc(l.byRef[w.Ref], func(other *Waiter) bool { return other == w })
	if len(l.byRef[w.Ref]) == 0 {
		delete(l.byRef, w.Ref)
		delete(l.byKey, w.key)
	}
}

// Alone reports whether no other call waits for the same grant.
func (l *Listener) Alone(w *Waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byRef[w.Ref]) <= 1
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
			w.wake()
		} else {
			w.hear(m)
		}
	}
}

// wake has the waiter ask again.
func (w *Waiter) wake() {
	select {
	case w.Again <- struct{}{}:
	default: // it has been told already
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
