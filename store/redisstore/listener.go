package redisstore

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// listener hears which waiters of a store have been granted. All share one subscription.
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
	// heard gets the messages to the waiter. One too many is missed, as any message may be.
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
	// question is the number of the last question that the server had got from the waiter by then.
	question uint64
	// number is the fence of a grant, or the number of the claim that leads to a deadlock.
	number uint64
	// owner is the other one in a deadlock.
	owner pathlock.Owner
}

// isOutdated reports whether the message is about an earlier place in the queue than the one that a
// question with that number has got: what was granted then has ended since. Force is meant for
// every place.
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
