package zk

import "sync"

// WatchKind is what is watched about a znode.
type WatchKind int32

// The kinds of watches. A watch of the children of a znode without any fires when the znode itself
// goes, and not when its data changes.
const (
	WatchChildren WatchKind = 1
	WatchData     WatchKind = 2
)

type eventKind int32

// The events that servers send.
const (
	eventDeleted         eventKind = 2
	eventDataChanged     eventKind = 3
	eventChildrenChanged eventKind = 4
)

// Watch looks at a znode now, and again after each change and on each new connection. look is given
// a Get or a Children, as kind says, with its answer, and returns false if it need not be called
// again. It is called by one goroutine at a time and must not block.
//
// The watch stands when Watch returns. look is not called after stop has returned. stop must not be
// called by look.
func (c *Client) Watch(path string, kind WatchKind, look func(Op) (more bool)) (stop func()) {
	w := &watch{client: c, path: path, kind: kind, look: look}
	c.begin.Do(func() { go c.run() })
	c.mu.Lock()
	if c.watches[path] == nil {
		c.watches[path] = make(map[*watch]struct{})
	}
	c.watches[path][w] = struct{}{}
	l := c.link
	c.mu.Unlock()
	if l != nil {
		w.arm(l)
	}
	return w.stop
}

// watch is one caller's watch of one znode.
type watch struct {
	client *Client
	path   string
	kind   WatchKind

	mu    sync.Mutex
	look  func(Op) bool // nil when the watch has ended
	armed *link         // the connection on which the server has the watch
}

// arm has the server tell of the next change, and looks at what there is.
func (w *watch) arm(l *link) {
	var op Op = &Get{Path: w.path, Watch: true}
	if w.kind == WatchChildren {
		op = &Children{Path: w.path, Watch: true}
	}
	l.send(op, func(err error) {
		if err != nil {
			return // the next connection arms it
		}
		w.mu.Lock()
		stands := op.answer().Err == nil
		ended := w.look == nil
		more := ended || w.look(op)
		if stands && !ended {
			w.armed = l
		}
		w.mu.Unlock()
		switch {
		case stands && ended: // while the request was under way
			w.disarm(l)
		case !more:
			w.stop()
		}
	})
}

// stop ends the watch.
func (w *watch) stop() {
	w.mu.Lock()
	ended, armed := w.look == nil, w.armed
	w.look, w.armed = nil, nil
	w.mu.Unlock()
	if ended {
		return
	}
	c := w.client
	c.mu.Lock()
	delete(c.watches[w.path], w)
	if len(c.watches[w.path]) == 0 {
		delete(c.watches, w.path)
	}
	c.mu.Unlock()
	if armed != nil {
		w.disarm(armed)
	}
}

// disarm has the server forget the watch, unless it is another one's, too: the server keeps one for
// all of a connection.
func (w *watch) disarm(l *link) {
	c := w.client
	c.mu.Lock()
	defer c.mu.Unlock() // a watch that is added after this look is armed after this request
	for other := range c.watches[w.path] {
		if other.kind == w.kind {
			return
		}
	}
	l.send(&removeWatches{path: w.path, kind: w.kind}, func(error) {})
}

// event passes on what a server tells. It is called by the connection's reader.
func (c *Client) event(path string, kind eventKind) {
	fires := func(w *watch) bool {
		switch kind {
		case eventDeleted:
			return true
		case eventDataChanged:
			return w.kind == WatchData
		case eventChildrenChanged:
			return w.kind == WatchChildren
		default:
			return false
		}
	}
	var fired []*watch
	c.mu.Lock()
	l := c.link
	for w := range c.watches[path] {
		if fires(w) {
			fired = append(fired, w)
		}
	}
	c.mu.Unlock()
	for _, w := range fired {
		w.mu.Lock()
		w.armed = nil
		w.mu.Unlock()
		if l != nil {
			w.arm(l)
		}
	}
}
