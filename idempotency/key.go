package idempotency

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/middleware"
)

// maxKey is the length of the longest key, in bytes.
const maxKey = 255

// errKey says what is wrong with a key.
var errKey = errors.New("idempotency: malformed key")

// parseKey reads the header. The draft has a string of RFC 8941 there, in double quotes. Many
// clients send the key without quotes: then it may have no spaces, quotes, commas or semicolons.
func parseKey(values []string) (key string, err error) {
	if len(values) != 1 {
		return "", fmt.Errorf("%w: the request has the header %d times", errKey, len(values))
	}
	text := strings.Trim(values[0], " \t")
	if rest, quoted := strings.CutPrefix(text, `"`); quoted {
		key, err = parseString(rest)
	} else {
		key = text
		for i := range len(text) {
			if b := text[i]; b <= ' ' || b >= 0x7f || strings.IndexByte(`"\,;`, b) >= 0 {
				err = fmt.Errorf("%w: without quotes, it must consist of letters, digits and signs other than these: \" \\ , ;", errKey)
			}
		}
	}
	switch {
	case err != nil:
		return "", err
	case key == "":
		return "", fmt.Errorf("%w: it is empty", errKey)
	case len(key) > maxKey:
		return "", fmt.Errorf("%w: it has more than %d bytes", errKey, maxKey)
	}
	return key, nil
}

// parseString reads the rest of a string of RFC 8941, behind its first quote.
func parseString(rest string) (string, error) {
	var key strings.Builder
	for i := 0; i < len(rest); i++ {
		switch b := rest[i]; {
		case b == '"' && i == len(rest)-1:
			return key.String(), nil
		case b == '\\' && i+1 < len(rest) && (rest[i+1] == '"' || rest[i+1] == '\\'):
			i++
			key.WriteByte(rest[i])
		case b < ' ' || b >= 0x7f || b == '"' || b == '\\':
			return "", fmt.Errorf("%w: it is not a string of RFC 8941", errKey)
		default:
			key.WriteByte(b)
		}
	}
	return "", fmt.Errorf("%w: the quotes are not closed", errKey)
}

// fingerprint distinguishes requests that were sent under one key.
func (k *Keys) fingerprint(c *gin.Context) (string, error) {
	body, err := web.ReadBody(c.Writer, c.Request, c, k.config.MaxBody, k.config.BodyTimeout)
	if err != nil {
		return "", err
	}
	r := c.Request
	return hash(r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body)), nil
}

// unreadable is the problem of a body that could not be read.
func unreadable(err error) *middleware.Problem {
	if errors.Is(err, web.ErrTimeout) {
		return middleware.NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	}
	if _, limited := errors.AsType[*http.MaxBytesError](err); limited || errors.Is(err, web.ErrTooLarge) {
		return middleware.NewProblem(http.StatusRequestEntityTooLarge, "too-large", "the body is too large for a request with an "+Header)
	}
	return middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is incomplete")
}
