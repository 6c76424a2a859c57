// Package web has what HTTP handlers need, whichever framework calls them: answers to failures, the
// names of hosts, and the bodies of requests. It imports no framework.
package web

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ProblemType begins the types of pathlock's problems. A slug such as "locked" follows.
const ProblemType = "urn:pathlock:problem:"

// BeginProblem makes an answer's headers those of a problem, whoever writes it. It sets Retry-After
// to a time that is not 0, in whole seconds, rounded up. A Content-Length was meant for the answer
// that failed: net/http would cut the problem there.
func BeginProblem(h http.Header, retryAfter time.Duration) {
	h.Del("Content-Length")
	if retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((retryAfter+time.Second-1)/time.Second)))
	}
}

// WriteProblem answers with application/problem+json (RFC 9457), or with the status alone if the
// problem cannot be encoded.
func WriteProblem(w http.ResponseWriter, status int, problem any, retryAfter time.Duration) {
	body, err := json.Marshal(problem)
	BeginProblem(w.Header(), retryAfter)
	if err == nil {
		w.Header().Set("Content-Type", "application/problem+json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}

// Hosts are the names of a server, which tells them from names that a foreign page has made up for
// it.
//
// A page may let its own name resolve to 127.0.0.1 (DNS rebinding). The browser then takes what
// listens there for the page's own origin, and lets the page read it. The Host header gives such a
// page away.
type Hosts struct{ listed []string }

// NewHosts returns the names, each with or without a port. If there are none, every name will do,
// except for requests that arrive on a loopback address: there it has to be localhost, a name below
// it, or an IP address.
func NewHosts(names ...string) Hosts {
	n := Hosts{listed: make([]string, 0, len(names))}
	for _, name := range names {
		n.listed = append(n.listed, strings.ToLower(name))
	}
	return n
}

// ValidHost reports whether a text can be one of the names.
func ValidHost(name string) bool { return name != "" && !strings.ContainsAny(name, "/@ ") }

// Are reports whether a request's Host header has one of the names. A request without one passes:
// no browser sends it.
func (n Hosts) Are(r *http.Request) bool {
	name := strings.ToLower(hostname(r.Host))
	switch {
	case r.Host == "":
		return true
	case len(n.listed) > 0:
		return slices.Contains(n.listed, name) || slices.Contains(n.listed, strings.ToLower(r.Host))
	case !onLoopback(r), name == "localhost", strings.HasSuffix(name, ".localhost"):
		return true
	default:
		_, err := netip.ParseAddr(name)
		return err == nil
	}
}

// hostname returns a Host header without its port and without brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(host, "]"), "["), ".")
}

// onLoopback reports whether a request has arrived on a loopback address.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}
