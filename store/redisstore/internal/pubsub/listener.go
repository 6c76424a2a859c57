package pubsub

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// Listener hears which waiters of a store have been granted. All share one subscription.
type Listener struct {
	client redis.UniversalClient
	// Channel is the store's own: it, and no other, is told there what it waits for.
	Channel string

	ctx     context.Context // over when the listener is closed
	close   context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	last    uint64 // the last number of a waiter that was given out
	waiters map[string]*Waiter
	// The subscription is begun when the first waiter begins to wait.
	begun, established bool
}

// Waiter is one call that waits.
type Waiter struct {
	number string
	// questions counts what the call has asked.
	questions uint64
	// Heard gets the messages to the waiter. One too many is missed, as any message may be.
	Heard chan Message
}

// The kinds of messages. Each but Again ends the wait.
const (
	// Granted: the request has been granted.
	Granted = "granted"
	// Deadlock: granting the request would need an owner that waits for the one that asks.
	Deadlock = "deadlock"
	// Removed: the request's place in the queue was taken away by force.
	Removed = "removed"
	// Again: what blocks the request may go without a message, or sooner than the waiter was told;
	// or messages may have been missed.
	Again = "again"
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
	l := &Listener{client: client, Channel: channel, waiters: make(map[string]*Waiter)}
	l.ctx, l.close = context.WithCancel(context.Background())
	return l
}

// Join makes a waiter known. Call it before the request is sent, so that no message comes too
// early. [Listener.Leave] has to follow.
func (l *Listener) Join() *Waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	w := &Waiter{number: strconv.FormatUint(l.last, 10), Heard: make(chan Message, 8)}
	l.waiters[w.number] = w
	return w
}

// Leave forgets a waiter.
func (l *Listener) Leave(w *Waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiters, w.number)
}

// Question returns the number of the waiter's next question, and the reference that messages to the
// waiter carry from then on.
func (w *Waiter) Question() (ref string, number uint64) {
	w.questions++
	return w.number + "." + strconv.FormatUint(w.questions, 10), w.questions
}

// deliver hands a message to its waiter. A message is a kind, the reference of a question, and for
// some kinds a number and an owner.
func (l *Listener) deliver(payload string) {
	fields := append(strings.SplitN(payload, " ", 4), "", "", "")
	waiter, question, _ := strings.Cut(fields[1], ".")
	m := Message{Kind: fields[0], Owner: pathlock.Owner(fields[3])}
	m.Question, _ = strconv.ParseUint(question, 10, 64)
	m.Number, _ = strconv.ParseUint(fields[2], 10, 64)

	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.waiters[waiter]; w != nil {
		w.hear(m)
	}
}

func (w *Waiter) hear(m Message) {
	select {
	case w.Heard <- m:
	default:
	}
}
