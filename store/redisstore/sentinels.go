package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// sentinelPatience is how long a sentinel has to answer. One that hangs holds up nobody, since
	// all are asked at once.
	sentinelPatience = 500 * time.Millisecond
	// sentinelPause is the time between two looks at who the primary is, and sentinelHaste that
	// after a primary could not be reached.
	sentinelPause = time.Second
	sentinelHaste = 100 * time.Millisecond
)

// sentinels find the primary for a client, and close the client's connections to any other node.
// redis.NewFailoverClient does the same, but listens to one sentinel. While that one hangs, as when
// the host is lost that it shares with the primary, the client neither hears of a failover nor asks
// another sentinel.
//
// All sentinels are asked, once a second while the client is in use. The answer with the highest
// configuration epoch counts, as it does among the sentinels.
type sentinels struct {
	name string
	opts redis.Options
	net  net.Dialer
	tls  *tls.Config

	stop    context.CancelFunc
	stopped context.Context
	work    sync.WaitGroup
	// hurry asks for a look at once.
	hurry chan struct{}

	mu      sync.Mutex
	closed  bool
	asked   []*sentinel
	primary string
	epoch   uint64
	// changed is closed when the primary becomes known.
	changed chan struct{}
	conns   map[*primaryConn]bool
}

// sentinel is one of them.
type sentinel struct {
	addr   string
	client *redis.SentinelClient
	// trouble is why the last question got no answer.
	trouble error
}

// primaryConn is a connection to what was the primary when it was made.
type primaryConn struct {
	net.Conn
	addr  string
	owner *sentinels
}

// sentinelClient closes a client and the sentinels that it goes by.
type sentinelClient struct {
	*redis.Client
	sentinels *sentinels
}

func (c sentinelClient) Close() error {
	c.sentinels.close()
	return c.Client.Close()
}

// newSentinelClient returns a client of the primary that the sentinels at addrs call name. The
// options are the client's own; auth has the user and the password for the sentinels.
func newSentinelClient(name string, addrs []string, opts *redis.Options, auth redis.Options) sentinelClient {
	stopped, stop := context.WithCancel(context.Background())
	s := &sentinels{
		name: name, tls: opts.TLSConfig,
		net: net.Dialer{Timeout: opts.DialTimeout},
		opts: redis.Options{
			Username: auth.Username, Password: auth.Password, TLSConfig: opts.TLSConfig,
			DialTimeout: sentinelPatience, ReadTimeout: sentinelPatience, WriteTimeout: sentinelPatience,
			MaxRetries: -1, DialerRetries: 1, PoolSize: 2, ContextTimeoutEnabled: true, DisableIdentity: true,
		},
		stop: stop, stopped: stopped,
		hurry:   make(chan struct{}, 1),
		changed: make(chan struct{}),
		conns:   make(map[*primaryConn]bool),
	}
	for _, addr := range addrs {
		s.asked = append(s.asked, &sentinel{addr: addr})
	}
	opts.Addr = "the primary " + name
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	begin := sync.OnceFunc(func() { s.work.Go(s.run) })
	opts.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
		if s.isClosed() {
			return nil, redis.ErrClosed
		}
		begin()
		return s.dial(ctx, network)
	}
	return sentinelClient{redis.NewClient(opts), s}
}

func (s *sentinels) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// close ends the looks and returns when they have ended.
func (s *sentinels) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.asked {
		if each.client != nil {
			_ = each.client.Close()
		}
	}
}

// dial connects to the primary, as soon as it is known.
func (s *sentinels) dial(ctx context.Context, network string) (net.Conn, error) {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	select {
	case <-changed:
	case <-ctx.Done():
		return nil, s.unknownPrimary()
	case <-s.stopped.Done():
		return nil, redis.ErrClosed
	}
	s.mu.Lock()
	addr := s.primary
	s.mu.Unlock()
	var conn net.Conn
	var err error
	if s.tls != nil {
		conn, err = (&tls.Dialer{NetDialer: &s.net, Config: s.tls}).DialContext(ctx, network, addr)
	} else {
		conn, err = s.net.DialContext(ctx, network, addr)
	}
	if err != nil {
		select {
		case s.hurry <- struct{}{}:
		default:
		}
		return nil, err
	}
	c := &primaryConn{conn, addr, s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if addr != s.primary {
		_ = conn.Close()
		return nil, errNoPrimaryNow
	}
	s.conns[c] = true
	if checked, ok := conn.(syscall.Conn); ok {
		return &checkedConn{c, checked}, nil
	}
	return c, nil
}

// unknownPrimary says why no sentinel has named the primary. It matches no context's error, since
// the sentinels' troubles are the cause, and not the time that a dial is given.
func (s *sentinels) unknownPrimary() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var troubles []string
	for _, each := range s.asked {
		if each.trouble != nil {
			troubles = append(troubles, fmt.Sprintf("%s: %v", each.addr, each.trouble))
		}
	}
	if len(troubles) == 0 {
		return errNoSentinel
	}
	return fmt.Errorf("%w: %s", errNoSentinel, strings.Join(troubles, ", "))
}

var (
	errNoSentinel   = errors.New("no sentinel has said yet who the primary is")
	errNoPrimaryNow = errors.New("another node has become the primary")
)

// checkedConn lets the client find out, before it uses the connection, that the server has closed
// it.
type checkedConn struct {
	*primaryConn
	syscall.Conn
}

func (c *primaryConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// run looks who the primary is until the client is closed.
func (s *sentinels) run() {
	for {
		s.look()
		timer := time.NewTimer(sentinelPause)
		select {
		case <-timer.C:
			continue
		case <-s.stopped.Done():
			timer.Stop()
			return
		case <-s.hurry:
			timer.Reset(sentinelHaste)
		}
		select {
		case <-timer.C:
		case <-s.stopped.Done():
			timer.Stop()
			return
		}
	}
}

// opinion is what a sentinel says who the primary is.
type opinion struct {
	addr  string
	epoch uint64
}

// look asks all sentinels at once. The word of a majority is enough; a later answer may be newer.
func (s *sentinels) look() {
	ctx, cancel := context.WithTimeout(s.stopped, sentinelPatience)
	defer cancel()
	opinions := make(chan opinion, len(s.asked))
	var work sync.WaitGroup
	for _, each := range s.asked {
		work.Go(func() { opinions <- s.ask(ctx, each) })
	}
	var best opinion
	answers := 0
	for i := range s.asked {
		said := <-opinions
		if said.addr != "" {
			answers++
			if best.addr == "" || said.epoch > best.epoch {
				best = said
			}
		}
		if majority := answers > len(s.asked)/2; best.addr != "" && (majority || i == len(s.asked)-1) {
			s.follow(best, majority)
		}
	}
	work.Wait()
}

// ask asks one sentinel, by a new connection if the last one failed.
func (s *sentinels) ask(ctx context.Context, each *sentinel) opinion {
	s.mu.Lock()
	if each.client == nil {
		opts := s.opts
		opts.Addr = each.addr
		each.client = redis.NewSentinelClient(&opts)
	}
	client := each.client
	s.mu.Unlock()
	about, err := client.Master(ctx, s.name).Result()
	if err == nil && about["ip"] != "" {
		epoch, _ := strconv.ParseUint(about["config-epoch"], 10, 64)
		return opinion{net.JoinHostPort(about["ip"], about["port"]), epoch}
	}
	if refusal := redis.Error(nil); errors.As(err, &refusal) { // perhaps it may not be asked so much
		if addr, err := client.GetMasterAddrByName(ctx, s.name).Result(); err == nil && len(addr) > 1 {
			return opinion{net.JoinHostPort(addr[0], addr[1]), 0}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	each.trouble = err
	if each.client == client {
		each.client = nil
		_ = client.Close()
	}
	return opinion{}
}

// follow acts on what a sentinel said. Without a majority, an answer older than what is known is
// ignored.
func (s *sentinels) follow(said opinion, majority bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !majority && s.primary != "" && said.epoch < s.epoch {
		return
	}
	first := s.primary == ""
	s.primary, s.epoch = said.addr, said.epoch
	if first {
		close(s.changed)
	}
	for c := range s.conns {
		if c.addr != said.addr {
			delete(s.conns, c)
			_ = c.Conn.Close() // whatever is on its way there has to be asked of the new one
		}
	}
}
