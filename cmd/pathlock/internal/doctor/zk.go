package doctor

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
)

// oldestZooKeeper is the oldest ZooKeeper that has what the store uses.
var oldestZooKeeper = [2]int{3, 6}

// zooKeeper examines the servers of an ensemble. It reports whether one of them answers. Servers
// that want TLS are examined by what the store finds.
func (e *exam) zooKeeper(ctx context.Context, url, about string) bool {
	if strings.HasPrefix(url, "zks:") {
		e.found(Unknown, about, "servers", "not looked at: the servers want TLS, and tell what they are without it only", "versions are not known", "run the doctor on a zk:// port of the servers")
		return true
	}
	servers := zooKeepers(about)
	modes := make(map[string]int)
	for _, addr := range servers {
		mode := e.zooKeeperServer(ctx, addr)
		modes[mode]++
	}
	switch {
	case modes[""] == len(servers):
		e.unanswered(about, fmt.Errorf("no server of %s answers", strings.Join(servers, ",")))
		return false
	case modes["standalone"] > 0 && e.members > 0:
		e.fine(about, "ensemble", "the server is alone: the other members of the quorum stand in")
	case modes["standalone"] > 0:
		e.found(Warning, about, "ensemble", "the server is alone", "while it is down, nothing is granted; with its disk, all locks are lost", "run an ensemble of three")
	default:
		e.fine(about, "ensemble", "%d servers", len(servers))
	}
	return true
}

// zooKeepers returns the addresses of the servers in the URL of a store, as the store shows it.
func zooKeepers(shown string) []string {
	_, rest, _ := strings.Cut(shown, "://")
	rest, _, _ = strings.Cut(rest, "/")
	var all []string
	for host := range strings.SplitSeq(rest, ",") {
		if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
			host += ":2181"
		}
		all = append(all, host)
	}
	return all
}

// zooKeeperServer examines one server, and returns whether it leads, follows or is alone; "" if it
// does not serve.
func (e *exam) zooKeeperServer(ctx context.Context, addr string) (mode string) {
	about, err := e.fourLetters(ctx, addr, "srvr")
	switch {
	case err != nil:
		e.found(Warning, addr, "server", fmt.Sprintf("it does not answer: %v", err), "one more that does not may keep the others from granting anything", "start it, or take it out of the URL")
		return ""
	case strings.Contains(about, "not in the whitelist"):
		e.found(Unknown, addr, "server", "it does not tell what it is", "its version is not known", "add srvr to 4lw.commands.whitelist")
		mode = "unknown"
	case !strings.Contains(about, "Mode: "):
		e.found(Warning, addr, "server", "it does not serve", "it has no majority of the ensemble", "see that a majority of the servers runs and reaches each other")
		return ""
	default:
		fields := fieldsOf(about)
		mode = fields["Mode"]
		version, _, _ := strings.Cut(fields["Zookeeper version"], "-")
		if older(version, oldestZooKeeper) {
			e.found(Problem, addr, "version", "ZooKeeper "+version, "it lacks containers and other things that the store uses", "update to 3.6 or later")
		} else {
			e.fine(addr, "version", "ZooKeeper %s, %s", version, mode)
		}
	}
	return mode
}

// fourLetters sends one of the four-letter commands.
func (e *exam) fourLetters(ctx context.Context, addr, command string) (answer string, err error) {
	err = e.ask(ctx, func(ctx context.Context) error {
		conn, err := dial(ctx, addr)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, command); err != nil {
			return err
		}
		text, err := io.ReadAll(io.LimitReader(conn, 1<<20))
		answer = string(text)
		return err
	})
	return answer, err
}

// dial connects, for as long as ctx lasts.
func dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = conn.SetDeadline(deadline)
	}
	return conn, err
}
