package middleware

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// ReadJSON returns the body of a request as the middleware reads it for a spec, for handlers and
// middleware of yours that look at it themselves: whole, at most [Config.MaxBody] bytes, within
// [Config.BodyTimeout], and of application/json or one of [Config.JSONTypes]. It returns nil if
// there is no body, whatever the content type. Afterwards the body can be read as if it had not
// been, and ReadJSON returns it again.
//
// That it is JSON is for [lockspec.JSONFields] to say. Errors are those that [Locks.Fail] answers,
// by 408, 413, 415 or 400. A body that was not read to its end leaves a connection that cannot be
// used again: answer with the header Connection: close.
func (m *Locks) ReadJSON(c *gin.Context) ([]byte, error) {
	r := c.Request
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	v := newValues(c, lockspec.Spec{}, &m.config)
	if err := v.wantJSONType(); err != nil {
		return nil, err
	}
	if err := m.readAhead(c); err != nil {
		return nil, err
	}
	if err := v.readBody(); err != nil {
		return nil, err
	}
	return v.body, nil
}
