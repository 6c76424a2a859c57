package middleware

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// values finds the values of sources in one request. The body is read when the first
// value in it is asked for, and handed on to the handler as if it had not been.
//
// A value is looked for once per request: it is the request's, and whatever else
// changes, the request does not. [lockspec.Spec.IDs] and [lockspec.Spec.Bind] ask for the values of
// a spec in the same order every time, so that they are known by their number.
type values struct {
	c         *gin.Context
	spec      lockspec.Spec
	jsonTypes []string
	maxBody   int64
	body      []byte
	read      bool
	json      map[string]lockspec.JSONValue
	form      *http.Request

	known []known
	next  int // the number of the value that is asked for next
}

// known is what was found for a source.
type known struct {
	value string
	ok    bool
	err   error
}

func newValues(c *gin.Context, spec lockspec.Spec, config *Config) *values {
	return &values{c: c, spec: spec, jsonTypes: config.JSONTypes, maxBody: config.MaxBody}
}

// rewind expects the values to be asked for again, from the first one.
func (v *values) rewind() { v.next = 0 }
