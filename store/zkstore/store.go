package zkstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Store is a lock store in ZooKeeper.
type Store struct {
	*ticketstore.Store
	backend *backend
}

// errRoot is for a root that cannot be one.
var errRoot = errors.New("pathlock/zkstore: the root is the path of a znode, such as /pathlock")

// errServer does not quote the server: what is written in a wrong place may be a password.
var errServer = fmt.Errorf("pathlock/zkstore: %w", storeurl.ErrPort)

// New returns a store on the ensemble of some servers, each host or host:port, with 2181 as the
// default port. It does not connect: the first call does, and Ping tells whether it can. All calls
// share one session, which [Store.Close] ends.
func New(servers []string, opts ...Option) (*Store, error) {
	c := newConfig(opts)
	if err := checkRoot(c.root); err != nil {
		return nil, err
	}
	hosts, err := hostPorts(servers)
	if err != nil {
		return nil, err
	}
	b := &backend{
		client: newClient(hosts, c),
		names:  names{strings.TrimSuffix(c.root, "/")}, acl: c.acl(),
		packet: c.packet, sweep: c.sweep,
		log: c.log, clock: newClock(),
	}
	b.closing, b.close = context.WithCancel(context.Background())
	return &Store{Store: ticketstore.New("zkstore", b, c.timeout), backend: b}, nil
}

func checkRoot(root string) error {
	if !strings.HasPrefix(root, "/") || root == "/" {
		return errRoot
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(root[1:], "/"), "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errRoot
		}
	}
	return nil
}

// hostPorts adds the default port where there is none.
func hostPorts(servers []string) ([]string, error) {
	const port = "2181"
	hosts := make([]string, 0, len(servers))
	for _, server := range servers {
		host, given, err := net.SplitHostPort(server)
		if err != nil {
			host, given = strings.Trim(server, "[]"), port
		}
		addr := net.JoinHostPort(host, given)
		if storeurl.CheckPort(addr) != nil {
			return nil, errServer
		}
		hosts = append(hosts, addr)
	}
	if len(hosts) == 0 {
		return nil, errors.New("pathlock/zkstore: no servers")
	}
	return hosts, nil
}

// Close ends all calls that wait, and then the session. What this process still holds stays until
// its leases end. If ctx ends first, the session is left to its time-out.
func (s *Store) Close(ctx context.Context) error {
	s.backend.close()
	err := s.Store.Close()
	s.backend.running.Wait()
	if failed := s.backend.client.end(ctx); failed != nil {
		err = errors.Join(err, fmt.Errorf("pathlock/zkstore: ending the session: %w", failed))
	}
	return err
}
