package doctor

import (
	"context"
	"fmt"
	"time"
)

// How far clocks may be apart.
const (
	// slowClock is where people who compare the times of logs begin to err.
	slowClock = time.Second
	// apartClocks is where a fail-over may end leases early, or have fences fall.
	apartClocks = 500 * time.Millisecond
	// wildClocks is a third of the default lease.
	wildClocks = 10 * time.Second
)

// reading is how far a server's clock is ahead of this host's.
type reading struct {
	about string
	ahead time.Duration
	// within is how exact that is.
	within time.Duration
}

// readings is how often a clock is asked. The quickest answer counts, because it is the most exact.
const readings = 5

// clock asks a server for its time. at most half of the round trip lies between the true time of
// its answer and the middle of the round trip.
func (e *exam) clock(ctx context.Context, about string, ask func(context.Context) (time.Time, error)) error {
	best := reading{about: about, within: -1}
	for range readings {
		sent := e.Now()
		begin := time.Now()
		var server time.Time
		err := e.ask(ctx, func(ctx context.Context) (err error) {
			server, err = ask(ctx)
			return err
		})
		if err != nil {
			return err
		}
		half := time.Since(begin) / 2
		if best.within < 0 || half < best.within {
			best.ahead, best.within = server.Add(e.shift(about)).Sub(sent.Add(half)), half
		}
	}
	e.clocks = append(e.clocks, best)
	return nil
}

// judgeClocks compares the clocks that were read: each with this host's, and the servers' with each
// other. what says what goes by them.
func (e *exam) judgeClocks(between string) {
	for _, c := range e.clocks {
		is := fmt.Sprintf("it is %s this host's clock, to within %v", ahead(c.ahead), c.within.Round(10*time.Microsecond))
		if abs(c.ahead)-c.within <= slowClock {
			e.found(Fine, c.about, "clock", is, "", "")
			continue
		}
		e.found(Advice, c.about, "clock", is,
			"leases go by the server's clock alone, so locks are right; the times in this host's logs do not fit with those of the locks", "run NTP on both hosts")
	}
	e.judgeApart(e.clocks, between)
	if len(e.clocks) > 0 {
		e.firsts = append(e.firsts, e.clocks[0])
	}
	e.clocks = nil
}

// judgeApart compares clocks with each other.
func (e *exam) judgeApart(clocks []reading, between string) {
	for i, a := range clocks {
		for _, b := range clocks[i+1:] {
			apart := abs(a.ahead-b.ahead) - a.within - b.within
			if apart <= apartClocks {
				continue
			}
			level := Warning
			if apart > wildClocks {
				level = Problem
			}
			e.found(level, a.about, "clocks", fmt.Sprintf("its clock is %s that of %s", ahead(a.ahead-b.ahead), b.about), between, "run NTP on all hosts of the servers")
		}
	}
}

// ahead says how far a clock is ahead of another.
func ahead(d time.Duration) string {
	switch d = d.Round(time.Millisecond); {
	case d > 0:
		return d.String() + " ahead of"
	case d < 0:
		return (-d).String() + " behind"
	default:
		return "level with"
	}
}

func abs(d time.Duration) time.Duration { return max(d, -d) }
