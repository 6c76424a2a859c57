package admin

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// answerTimeout is how long a client may take for an answer, its wait for the lock store
	// included.
	answerTimeout = 30 * time.Second
	// bodyTimeout is how long a client may take to send the body of a release.
	bodyTimeout = 5 * time.Second
	// closeTimeout is how long a client may take for the rest of an answer when the page is closed.
	closeTimeout = 3 * time.Second
	// mostClosing is how long Close waits for requests at most. They end earlier, unless something
	// in front of the page hides the connection's deadlines from it.
	mostClosing = bodyTimeout + releaseTimeout + closeTimeout + time.Second
)

// limit gives an answer a deadline, and a nearer one when the page is closed. The caller lifts it
// at the end of the answer.
func (p *Page) limit(w http.ResponseWriter, r *http.Request) (lift func()) {
	var mu sync.Mutex
	over := false
	// A writer that knows no deadlines is none of a connection.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	stop := context.AfterFunc(p.ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over { // the connection is the next request's
			hurry(w)
		}
	})
	return func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
		if r.ProtoMajor == 1 && ok && server.WriteTimeout == 0 {
			// The server would keep the deadline for the next request on the connection.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		}
	}
}

// hurry gives a client a last moment to read.
func hurry(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(closeTimeout))
}
