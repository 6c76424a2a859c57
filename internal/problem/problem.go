// Package problem writes the answers to failures: application/problem+json (RFC 9457).
package problem

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Type begins the types of pathlock's problems. A slug such as "locked" follows.
const Type = "urn:pathlock:problem:"

// AnnounceRetry sets the header Retry-After to a time that is not 0, in whole seconds, rounded up.
func AnnounceRetry(h http.Header, after time.Duration) {
	if after > 0 {
		h.Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
	}
}

// Write answers with a problem, or with the status alone if the problem cannot be encoded.
func Write(w http.ResponseWriter, status int, problem any, retryAfter time.Duration) {
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
