// Package web has what HTTP handlers need, whichever framework calls them: answers to failures, the
// names of hosts, and the bodies of requests. It imports no framework.
package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// ProblemType begins the types of pathlock's problems. A slug such as "locked" follows.
const ProblemType = "urn:pathlock:problem:"

// AnnounceRetry sets the header Retry-After to a time that is not 0, in whole seconds, rounded up.
func AnnounceRetry(h http.Header, after time.Duration) {
	if after > 0 {
		h.Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
	}
}

// WriteProblem answers with application/problem+json (RFC 9457), or with the status alone if the
// problem cannot be encoded.
func WriteProblem(w http.ResponseWriter, status int, problem any, retryAfter time.Duration) {
	body, err := json.Marshal(problem)
	AnnounceRetry(w.Header(), retryAfter)
	if err != nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}
