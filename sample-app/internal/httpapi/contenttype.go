package httpapi

import (
	"mime"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
)

// refuseOtherTypes refuses bodies that say they are something else than JSON. Beside being
// misunderstood, they are what a form on a page of another site can send.
func (a *api) refuseOtherTypes(c *gin.Context) {
	if c.FullPath() == "" || c.Request.ContentLength == 0 {
		return // another answer is due, or there is no body
	}
	for _, given := range c.Request.Header.Values("Content-Type") {
		if !isJSON(given) {
			a.refuseUnread(c, middleware.NewProblem(http.StatusUnsupportedMediaType, "unsupported-media-type",
				"the body has to be JSON: send it with the header Content-Type: application/json"))
			return
		}
	}
	for _, coding := range c.Request.Header.Values("Content-Encoding") {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			a.refuseUnread(c, middleware.NewProblem(http.StatusUnsupportedMediaType, "unsupported-media-type",
				"the body has to be sent as it is: without the header Content-Encoding"))
			return
		}
	}
}

// isJSON reports whether a Content-Type means JSON in UTF-8. One that is missing does.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != "application/json" {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}
