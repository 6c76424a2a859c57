package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// sentinelTimeout is how long sentinels have to answer. All are asked at once.
const sentinelTimeout = 500 * time.Millisecond

// sentinels find the primary for a client: for each connection, and whenever a command was not
// answered. Connections to a node that is no longer the primary are closed then.
//
// redis.NewFailoverClient has one sentinel that it asks and listens to. While that one hangs, for
// example because the host that it shares with the primary is lost, the client neither hears of a
// failover nor asks another.
type sentinels struct {
	name  string
	addrs []string
	asked []*redis.SentinelClient

	mu    sync.Mutex
	conns map[*primaryConn]bool
	// epoch is the highest configuration epoch of an answer that counted.
	epoch uint64
	// looks is how many looks have begun, latest the number of the latest that has found something,
	// and primary what that was.
	looks, latest uint64
	primary       string
}

// sentinelClient closes a client and the sentinels that it goes by.
type sentinelClient struct {
	*redis.Client
	sentinels *sentinels
}

func (c sentinelClient) Close() error {
	err := c.Client.Close()
	for _, each := range c.sentinels.asked {
		err = errors.Join(err, each.Close())
	}
	return err
}

// newSentinelClient returns a client of the primary that the sentinels at addrs call name. The
// options are the client's own; auth has the user and the password for the sentinels.
func newSentinelClient(name string, addrs []string, opts *redis.Options, auth redis.Options) sentinelClient {
	s := &sentinels{name: name, addrs: addrs, conns: make(map[*primaryConn]bool)}
	for _, addr := range addrs {
		s.asked = append(s.asked, redis.NewSentinelClient(&redis.Options{
			Addr: addr, Username: auth.Username, Password: auth.Password, TLSConfig: opts.TLSConfig,
			DialTimeout: sentinelTimeout, ReadTimeout: sentinelTimeout, WriteTimeout: sentinelTimeout,
			MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, DisableIdentity: true,
		}))
	}
	plain, config := &net.Dialer{Timeout: opts.DialTimeout}, opts.TLSConfig
	opts.Addr = "the primary " + name
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	opts.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
		addr, err := s.look(ctx)
		if err != nil {
			return nil, err
		}
		var conn net.Conn
		if config != nil {
			conn, err = (&tls.Dialer{NetDialer: plain, Config: config}).DialContext(ctx, network, addr)
		} else {
			conn, err = plain.DialContext(ctx, network, addr)
		}
		if err != nil {
			return nil, err
		}
		return s.keep(conn, addr), nil
	}
	return sentinelClient{redis.NewClient(opts), s}
}

// answer is which primary a sentinel names.
type answer struct {
	addr  string
	epoch uint64
	err   error
}

// look asks all sentinels for the primary, and closes the connections to any other node. Of a
// majority's answers, or of all that there are, the one with the highest configuration epoch
// counts, as it does among the sentinels.
//
// After a failover, only the sentinel that led it knows the new primary until the others hear of
// it, which takes up to two seconds. A majority that knows less than an earlier look is therefore
// believed only if no other sentinel answers in time.
func (s *sentinels) look(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, sentinelTimeout)
	defer cancel()
	answers := make(chan answer, len(s.asked))
	s.mu.Lock()
	s.looks++
	known, number := s.epoch, s.looks
	s.mu.Unlock()
	for i := range s.asked {
		go func() { answers <- s.ask(ctx, i) }()
	}
	var best answer
	var failed []error
	for answered := 0; (answered <= len(s.asked)/2 || best.epoch < known) && answered+len(failed) < len(s.asked); {
		got := <-answers
		if got.err != nil {
			failed = append(failed, got.err)
			continue
		}
		answered++
		if best.addr == "" || got.epoch > best.epoch {
			best = got
		}
	}
	if best.addr == "" {
		// It matches no context's error: users would think that their own context had ended.
		return "", errors.New("no sentinel says who the primary is: " + errors.Join(failed...).Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if number < s.latest {
		return s.primary, nil // what this look has found is older
	}
	s.latest, s.primary, s.epoch = number, best.addr, max(s.epoch, best.epoch)
	for c := range s.conns {
		if c.addr != best.addr {
			delete(s.conns, c)
			_ = c.Conn.Close() // whatever is on its way there has to be asked of the new one
		}
	}
	return best.addr, nil
}

// ask asks one sentinel.
func (s *sentinels) ask(ctx context.Context, i int) answer {
	about, err := s.asked[i].Master(ctx, s.name).Result()
	if err != nil {
		return answer{err: fmt.Errorf("%s: %w", s.addrs[i], err)}
	}
	epoch, err := strconv.ParseUint(about["config-epoch"], 10, 64)
	return answer{net.JoinHostPort(about["ip"], about["port"]), epoch, err}
}

// primaryConn is a connection to what was the primary when it was made.
type primaryConn struct {
	net.Conn
	addr  string
	owner *sentinels
}

// checkedConn lets the client find out, before it uses the connection, that the server has closed
// it.
type checkedConn struct {
	*primaryConn
	syscall.Conn
}

func (s *sentinels) keep(conn net.Conn, addr string) net.Conn {
	c := &primaryConn{conn, addr, s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	if checked, ok := conn.(syscall.Conn); ok {
		return &checkedConn{c, checked}
	}
	return c
}

func (c *primaryConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
