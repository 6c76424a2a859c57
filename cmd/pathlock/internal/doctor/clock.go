package doctor

import (
	"context"
	"time"
)

// slowClock is where people who compare the times of logs begin to err.
const slowClock = time.Second

// clock compares the clock of a server with this host's. At most half of the round trip lies
// between the true time of the answer and the middle of the round trip.
func (e *exam) clock(ctx context.Context, about string, ask func(context.Context) (time.Time, error)) {
	sent, begin := e.Now(), time.Now()
	var server time.Time
	if err := e.ask(ctx, func(ctx context.Context) (err error) {
		server, err = ask(ctx)
		return err
	}); err != nil {
		e.unknown(about, "clock", err, "")
		return
	}
	half := time.Since(begin) / 2
	ahead := server.Sub(sent.Add(half)).Round(time.Millisecond)
	is := "it is " + ahead.String() + " ahead of this host's clock"
	switch {
	case max(ahead, -ahead)-half <= slowClock:
		e.fine(about, "clock", "it is level with this host's clock, to within %v", slowClock)
		return
	case ahead < 0:
		is = "it is " + (-ahead).String() + " behind this host's clock"
	}
	e.found(Advice, about, "clock", is, "leases go by the server's clock alone, so locks are right; the times in this host's logs do not fit with those of the locks", "run NTP on both hosts")
}
