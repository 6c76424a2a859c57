package pubsub

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
)

// Pulse is how long a connection may be silent before it is pinged, and how long the answer may
// take. A server that has gone without closing its connections is noticed in twice that time.
const Pulse = 3 * time.Second

// subscriber is what subscriptions are made with: the client, or that of one node of a cluster.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// connection carries the subscriptions to the channels that one node serves.
//
// It is never repaired: at the first fault it is closed, and its subscriptions are made again
// wherever their channels are served by then. The client's own repair, which connects anew and
// subscribes to everything in one command, would stay with the node, and a cluster refuses it where
// the channels are in several slots.
type connection struct {
	listener *Listener
	node     string
	pubsub   *redis.PubSub
	stop     context.CancelFunc
	// carries has the subscriptions by channel, guarded by the listener's mu.
	carries map[string]*subscription
	// echo is what was last published to find out whether messages still come here; "" if it has
	// been heard.
	echo      string
	echoes    int
	published atomic.Bool
}

// attach puts a subscription on the connection to a node. The channel is closed when the connection
// stops carrying it.
func (l *Listener) attach(s *subscription, node string, client subscriber) (*connection, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.connections[node]
	if c == nil {
		ctx, stop := context.WithCancel(context.Background())
		c = &connection{
			listener: l,
			node:     node,
			pubsub:   client.Subscribe(ctx), // to nothing: it does not connect yet
			stop:     stop,
			carries:  make(map[string]*subscription),
		}
		l.connections[node] = c
		l.running.Go(func() { c.run(ctx) })
	}
	c.carries[s.channel] = s
	s.on, s.lost = c, make(chan struct{})
	return c, s.lost
}

// detach takes a subscription off its connection, which is closed if it was the last.
func (l *Listener) detach(s *subscription, c *connection) {
	l.mu.Lock()
	carried := s.on == c
	s.lose()
	last := len(c.carries) == 0
	if last {
		c.drop()
	}
	l.mu.Unlock()
	if carried && !last {
		c.unsubscribe(s.channel)
	}
}

// drop ends the connection, and loses what it carries.
func (c *connection) drop() {
	c.stop()
	if c.listener.connections[c.node] == c {
		delete(c.listener.connections, c.node)
	}
	for _, s := range c.carries {
		s.lose()
	}
}

// run receives until ctx ends or the connection fails.
func (c *connection) run(ctx context.Context) {
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		// The only error is that it is closed already.
		_ = c.pubsub.Close()
	})
	c.receive(ctx)
	c.listener.mu.Lock()
	c.drop()
	c.listener.mu.Unlock()
	<-closed
}

// receive hands on what the server says until ctx ends or the connection fails.
func (c *connection) receive(ctx context.Context) {
	heard, pinged, reviewed := false, false, time.Now()
	for ctx.Err() == nil {
		if time.Since(reviewed) >= Pulse {
			if !c.review(ctx) {
				return
			}
			reviewed = time.Now()
		}
		event, err := c.next(ctx, heard)
		var network net.Error
		switch {
		case err == nil:
			heard = true
			if _, pong := event.(*redis.Pong); pong {
				if !pinged {
					return // not an answer: a timeout in the middle of a message has put the client out of step
				}
				pinged = false
			}
			c.hear(event)
		case heard && !pinged && errors.As(err, &network) && network.Timeout():
			if c.ping(ctx) != nil {
				return
			}
			pinged = true
		case !c.refused(err):
			return
		}
	}
}

// next waits for one Pulse for what the server says. At first, that is also the time to connect in;
// later it has to end before the context does, after which the client would not use the connection
// any more.
func (c *connection) next(ctx context.Context, heard bool) (any, error) {
	patience := Pulse
	if heard {
		patience = 2 * Pulse
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.pubsub.ReceiveTimeout(ctx, Pulse)
}

func (c *connection) hear(event any) {
	switch e := event.(type) {
	case *redis.Message:
		if e.Payload == c.echo {
			c.echo = ""
			return
		}
		c.listener.deliver(e.Payload)
	case *redis.Subscription:
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		s := c.carries[e.Channel]
		switch {
		case s == nil: // it has ended meanwhile
		case e.Kind == "subscribe" || e.Kind == "ssubscribe":
			s.confirm()
		default:
			// The slot has moved to another node.
			s.lose()
		}
	}
}

// refused reports whether err is the server's refusal of a subscription. The reply does not say of
// which one, so refused loses all that the server has not confirmed.
func (c *connection) refused(err error) bool {
	if !calls.Answered(err) {
		return false
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	any := false
	for _, s := range c.carries {
		if !s.established {
			s.lose()
			any = true
		}
	}
	return any
}

// review loses the subscriptions whose channels another node serves by now, as far as the client
// knows, and has the client look again for the next time. It reports whether the connection is
// still good. A primary that becomes a replica need not tell its subscribers, and misses messages
// until the new primary knows of it.
func (c *connection) review(ctx context.Context) bool {
	if c.node == "" {
		return c.listens(ctx)
	}
	c.listener.mu.Lock()
	carried := slices.Collect(maps.Values(c.carries))
	c.listener.mu.Unlock()
	for _, s := range carried {
		node, _, err := c.listener.locate(ctx, s.channel)
		if err != nil || node == c.node {
			continue
		}
		c.listener.mu.Lock()
		if s.on == c {
			s.lose()
		}
		c.listener.mu.Unlock()
	}
	c.listener.Relocate(ctx)
	return true
}

// listens reports whether the client's last echo was heard here, and publishes the next. After a
// failover the client goes to another server, but this connection stays: a primary that was cut off
// from the others goes on answering here, or another host has its address by now.
func (c *connection) listens(ctx context.Context) bool {
	if c.echo != "" && c.published.Load() {
		return false
	}
	c.listener.mu.Lock()
	channel := ""
	for name, s := range c.carries {
		if s.established {
			channel = name
			break
		}
	}
	c.listener.mu.Unlock()
	c.echo = ""
	if channel == "" {
		return true
	}
	c.echoes++
	echo := "echo - " + strconv.Itoa(c.echoes)
	c.echo = echo
	c.published.Store(false)
	c.listener.running.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, probe)
		defer cancel()
		if c.listener.client.Publish(ctx, channel, echo).Err() == nil {
			c.published.Store(true)
		}
	})
	return true
}

func (c *connection) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Pulse)
	defer cancel()
	return c.pubsub.Ping(ctx)
}

// subscribe asks for a channel. Whether the server agrees is heard later.
func (c *connection) subscribe(ctx context.Context, channel string) error {
	ctx, cancel := context.WithTimeout(ctx, Pulse)
	defer cancel()
	if isSharded(channel) {
		return c.pubsub.SSubscribe(ctx, channel)
	}
	return c.pubsub.Subscribe(ctx, channel)
}

// unsubscribe gives a channel up. Where that fails, so does the connection.
func (c *connection) unsubscribe(channel string) {
	ctx, cancel := context.WithTimeout(context.Background(), Pulse)
	defer cancel()
	if isSharded(channel) {
		_ = c.pubsub.SUnsubscribe(ctx, channel)
		return
	}
	_ = c.pubsub.Unsubscribe(ctx, channel)
}
