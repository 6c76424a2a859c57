package etcdstore

import (
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// homeMark separates the process from the length in a ticket's home.
const homeMark = "+"

// homeFor returns the home of a ticket that this process gives a lease of d: the process, by whose
// clock the ticket's times are, and d in microseconds.
func (b *backend) homeFor(d time.Duration) string {
	return b.home + homeMark + strconv.FormatInt(d.Microseconds(), 10)
}

// isHome reports whether the times in a ticket are by this process's clock.
func (b *backend) isHome(t ticketstore.Ticket) bool {
	home, _, _ := strings.Cut(t.Home, homeMark)
	return home == b.home
}

// givenLease returns how long the ticket had to live when its end was set.
func givenLease(t ticketstore.Ticket) time.Duration {
	_, text, _ := strings.Cut(t.Home, homeMark)
	d, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return t.Lease
	}
	return time.Duration(d) * time.Microsecond
}
