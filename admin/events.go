package admin

import (
	"net/http"
	"time"
)

const (
	// pingEvery is the pause between two pings, which show that the stream lives.
	pingEvery = 10 * time.Second
	// historyEvery is the least pause between two hints that the history has changed.
	historyEvery = time.Second
	// writeTimeout is how long a viewer may take to read an event. One that takes longer is cut
	// off.
	writeTimeout = 10 * time.Second
)

// stream sends events to one viewer.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	// failed is why nothing more can be sent.
	failed error
}

// send sends an event. data is one line.
func (s *stream) send(event string, data []byte) {
	if s.failed != nil {
		return
	}
	message := make([]byte, 0, len(event)+len(data)+16)
	message = append(append(append(message, "event: "...), event...), "\ndata: "...)
	message = append(append(message, data...), "\n\n"...)
	s.write(message)
}

func (s *stream) write(message []byte) {
	// Whether the server can set a deadline or not, the event is sent.
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, s.failed = s.w.Write(message); s.failed == nil {
		s.failed = s.control.Flush()
	}
}

// serveEvents sends what the page shows, and then what changes: see openapi.json.
func (p *Page) serveEvents(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	follows := []*follower{{event: "trees"}}
	if query.Has("namespace") || query.Has("id") {
		tree, err := treeOf(query.Get("namespace"), query.Get("id"))
		if err != nil {
			fail(w, r, err)
			return
		}
		follows = append(follows, &follower{event: "tree", key: tree})
	}
	select {
	case p.viewers <- struct{}{}:
		defer func() { <-p.viewers }()
	default:
		fail(w, r, tooMany())
		return
	}
	for _, f := range follows {
		feed, err := p.join(f.key)
		if err != nil {
			fail(w, r, err)
			return
		}
		defer feed.leave()
		f.feed = feed
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would keep the events for itself
	if r.Method == http.MethodHead {
		return
	}
	s := &stream{w: w, control: http.NewResponseController(w)}
	// The server's deadline for reading a request would end the stream with it. The deadline for
	// writing is set anew with each event.
	_ = s.control.SetReadDeadline(time.Time{})
	p.follow(r, s, follows)
}

// follow sends events until the viewer is gone, the stream's time is up, or the page is closed.
func (p *Page) follow(r *http.Request, s *stream, follows []*follower) {
	s.write([]byte("retry: 2000\n\n"))
	p.ping(s)
	over := time.NewTimer(p.config.StreamFor)
	defer over.Stop()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	history := time.NewTicker(historyEvery)
	defer history.Stop()
	known := p.historyVersion()
	none := make(chan struct{})
	for s.failed == nil {
		changed := [2]<-chan struct{}{none, none}
		for i, f := range follows {
			changed[i] = f.catchUp(s)
		}
		select {
		case <-r.Context().Done():
			return
		case <-p.ctx.Done():
			s.send("bye", []byte("{}"))
			return
		case <-over.C:
			s.send("bye", []byte("{}"))
			return
		case <-changed[0]:
		case <-changed[1]:
		case <-ping.C:
			p.ping(s)
		case <-history.C:
			if now := p.historyVersion(); now != known {
				known = now
				s.send("history", encode(map[string]string{"version": now}))
			}
		}
	}
}

// ping shows that the stream lives, and what time it is here.
func (p *Page) ping(s *stream) {
	s.send("ping", encode(map[string]stamp{"now": stamp(p.config.Now())}))
}

// follower is how far a viewer has followed a feed.
type follower struct {
	event string
	key   feedKey
	feed  *feed
	seen  int
	// version is that of the tree which the viewer has, "" if it has none.
	version string
}

// catchUp sends what the viewer does not know yet. It returns a channel that is closed when there
// is more.
func (f *follower) catchUp(s *stream) <-chan struct{} {
	state, changed := f.feed.next()
	if state.number == f.seen {
		return changed
	}
	f.seen = state.number
	if state.trouble != nil {
		s.send("trouble", encode(trouble{f.event, state.trouble.Detail, stamp(state.since)}))
		return changed
	}
	switch view := state.view.(type) {
	case *overview:
		s.send(f.event, encode(view))
	case *treeView:
		if before, _ := state.before.(*treeView); before != nil && before.version == f.version {
			s.send("change", view.changeFrom(before))
		} else {
			s.send(f.event, view.whole())
		}
		f.version = view.version
	}
	return changed
}

// trouble says that what the viewer sees is old.
type trouble struct {
	What   string `json:"what"`
	Detail string `json:"detail"`
	Since  stamp  `json:"since"`
}
