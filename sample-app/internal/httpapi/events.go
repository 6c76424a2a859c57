package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/live"
)

const (
	// pingEvery is how often a stream says that it lives.
	pingEvery = 5 * time.Second
	// reconnect is how long a client waits before it connects again.
	reconnect = 2 * time.Second
	// sendTime is how long a client may take to receive an event.
	sendTime = 10 * time.Second
)

// events streams a plan's changes as server-sent events until the client goes, the plan is deleted,
// or the instance ends:
//
//   - changed, with the plan's revision, which is also the event's id;
//   - locks, with what GET …/locks answers, null while the lock store does not answer;
//   - gone, when the plan has been deleted;
//   - ping, every 5 seconds.
func (a *api) events(c *gin.Context) {
	plan, err := a.Service.Plan(c.Request.Context(), parsed(c.Param("plan")))
	if err != nil {
		a.fail(c, err)
		return
	}
	header := c.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // has nginx pass events on at once
	if c.Request.Method == http.MethodHead {
		return // there is nothing to stream
	}
	watch, err := a.Feed.Watch(plan.ID)
	if err != nil {
		p := middleware.Later(http.StatusServiceUnavailable, "too-many-watchers", "too many windows watch plans: ask GET …/locks now and then")
		if errors.Is(err, live.ErrStopped) {
			p = middleware.Later(http.StatusServiceUnavailable, "stopping", "this instance ends: connect again")
		}
		a.fail(c, p)
		return
	}
	defer a.Feed.Leave(watch)
	s := &stream{out: c.Writer, control: http.NewResponseController(c.Writer), seen: -1}
	if seen, err := strconv.ParseInt(c.GetHeader("Last-Event-ID"), 10, 64); err == nil {
		s.seen = seen
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	s.send(fmt.Sprintf("retry: %d\n\n", reconnect.Milliseconds()))
	for s.err == nil && !s.ended {
		select {
		case now := <-watch.News:
			s.state(now)
		case <-ping.C:
			s.send("event: ping\ndata: {}\n\n")
		case <-a.Feed.Stopping():
			return
		case <-c.Request.Context().Done():
			return
		}
	}
}

// stream is the state of one stream of events.
type stream struct {
	out     io.Writer
	control *http.ResponseController
	// seen is the revision that the client knows, and locks the locks.
	seen  int64
	locks []byte
	// told says that the client has been told of locks at all.
	told  bool
	ended bool
	err   error
}

// state sends what the client does not know yet.
func (s *stream) state(now live.State) {
	if now.Gone {
		s.send("event: gone\ndata: {}\n\n")
		s.ended = true
		return
	}
	if now.Revision != s.seen {
		s.seen = now.Revision
		s.send(fmt.Sprintf("id: %d\nevent: changed\ndata: {\"revision\":%d}\n\n", now.Revision, now.Revision))
	}
	if !s.told || !bytes.Equal(now.Locks, s.locks) {
		s.told, s.locks = true, now.Locks
		locks := now.Locks
		if locks == nil {
			locks = []byte("null")
		}
		s.send(fmt.Sprintf("event: locks\ndata: {\"now\":%q,\"locks\":%s}\n\n", time.Now().UTC().Format(time.RFC3339Nano), locks))
	}
}

// send writes and flushes. A client that does not receive it in time ends the stream. The server's
// limit on the time of an answer would end every stream.
func (s *stream) send(text string) {
	if s.err == nil {
		s.err = s.control.SetWriteDeadline(time.Now().Add(sendTime))
	}
	if s.err == nil {
		_, s.err = io.WriteString(s.out, text)
	}
	if s.err == nil {
		s.err = s.control.Flush()
	}
}
