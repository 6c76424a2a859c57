package redisstore

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// listener hears which waiters of a store have been granted. They share its subscriptions: one for
// all trees where one channel serves them all, one for each tree with waiters where a cluster
// shards its messages; and these share their connections, one to each node.
type listener struct {
	client redis.UniversalClient
	keys   keys
	// id tells the channels of this store from those of others.
	id string
	// linger is how long a subscription outlives its last waiter.
	linger time.Duration

	// pubsub is the kind of pub/sub that is used: one of the constants in sharded.go.
	pubsub atomic.Int32

	mu     sync.Mutex
	closed bool
	// last is the last reference that was given out.
	last uint64
	// byRef and byKey have the waiters; those who wait for the same grant share a reference.
	byRef map[string][]*waiter
	byKey map[waitKey]string
	// subscriptions are by channel, connections by node.
	subscriptions map[string]*subscription
	connections   map[string]*connection
	// running are the goroutines of subscriptions and connections.
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
	// ref is what messages to the waiter carry, followed by the number of its last question.
	ref string
	// heard gets the one message that ends the wait.
	heard chan message
	// again says that a message may have been missed.
	again chan struct{}
	// claim is the number of the claim that was last in the way.
	claim int
	// subscription is what the waiter hears by, once it has been routed.
	subscription *subscription
}

// message is what a script publishes to a waiter.
type message struct {
	kind string
	// question is the number of the last question that the server had got from the waiter by then.
	question uint64
	// number is the fence of a grant, or the number of the claim that leads to a deadlock.
	number uint64
	// owner is the other one in a deadlock.
	owner pathlock.Owner
}

func newListener(client redis.UniversalClient, k keys, id string, linger time.Duration) *listener {
	l := &listener{
		client:        client,
		keys:          k,
		id:            id,
		linger:        linger,
		byRef:         make(map[string][]*waiter),
		byKey:         make(map[waitKey]string),
		subscriptions: make(map[string]*subscription),
		connections:   make(map[string]*connection),
	}
	if _, ok := client.(*redis.ClusterClient); !ok {
		l.pubsub.Store(plainPubSub)
	}
	return l
}

// join makes a waiter known before its request is sent, so that no message to it can come too
// early.
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
	return w
}

// route gives a waiter the subscription to its tree's channel, which has to be done before its
// request is sent: from then on it is told when messages may have been missed.
func (l *listener) route(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	channel := l.channel(w.key.tree)
	s := l.subscriptions[channel]
	if s == nil {
		s = &subscription{listener: l, channel: channel, waiters: make(map[*waiter]bool), pause: firstPause}
		l.subscriptions[channel] = s
	}
	s.waiters[w] = true
	s.busy()
	w.subscription = s
}

// leave forgets a waiter.
func (l *listener) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := w.subscription; s != nil {
		delete(s.waiters, w)
		if len(s.waiters) == 0 {
			s.rest()
		}
	}
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
}

// alone reports whether no other call waits for the same grant.
func (l *listener) alone(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byRef[w.ref]) <= 1
}

// listen sees to it that a routed waiter's subscription is made, and reports whether it is there
// already. Until it is, messages are missed; then every waiter asks again.
func (l *listener) listen(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		w.subscription.begin()
	}
	return w.subscription.established
}

// deliver hands a message to those it is for: kind, reference with the number of a question, and
// for some kinds a number and an owner.
func (l *listener) deliver(payload string) {
	kind, rest, _ := strings.Cut(payload, " ")
	about, rest, _ := strings.Cut(rest, " ")
	number, owner, _ := strings.Cut(rest, " ")
	ref, question, _ := strings.Cut(about, ".")
	m := message{kind: kind, owner: pathlock.Owner(owner)}
	m.question, _ = strconv.ParseUint(question, 10, 64)
	m.number, _ = strconv.ParseUint(number, 10, 64)

	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.byRef[ref] {
		if kind == "again" { // who keeps it out may go without a word, or sooner than it has been told
			select {
			case w.again <- struct{}{}:
			default:
			}
			continue
		}
		w.hear(m)
	}
}

// hear keeps a message for the waiter. Of two, the later one counts: the earlier one may be about a
// place in the queue that has gone. Only what was taken away by force stays so.
func (w *waiter) hear(m message) {
	select {
	case w.heard <- m:
		return
	default:
	}
	select {
	case earlier := <-w.heard:
		if earlier.kind == removed {
			m = earlier
		}
	default: // it has been read meanwhile
	}
	w.heard <- m
}

// question returns the reference that the waiter's next question goes with, and its number, which
// is greater than that of every question before.
func (l *listener) question(w *waiter) (ref string, number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	return w.ref + "." + strconv.FormatUint(l.last, 10), l.last
}

// close ends all subscriptions for good and returns when their goroutines have ended.
func (l *listener) close() {
	l.mu.Lock()
	l.closed = true
	for _, s := range l.subscriptions {
		s.end()
	}
	l.mu.Unlock()
	l.running.Wait()
}
