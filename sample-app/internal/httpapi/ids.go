package httpapi

import (
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// checkParams refuses a request whose URL has an invalid id, before anything is done for it.
func (a *api) checkParams(c *gin.Context) {
	if strings.HasPrefix(c.FullPath(), adminPath) {
		return // the page knows its paths
	}
	for _, p := range c.Params {
		var err error
		switch {
		case p.Key == "file":
			continue // of the page
		case p.Key == "project":
			err = plans.CheckProject(p.Value)
		case parsed(p.Value) == 0:
			err = &plans.InvalidError{Field: p.Key, Reason: "must be a positive decimal integer"}
		}
		if err != nil {
			a.fail(c, err)
			return
		}
	}
}

// parsed returns the id that text spells, and 0 for any other text. Signs and leading zeros are
// refused, so that an id has one spelling.
func parsed(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || text[0] < '1' || text[0] > '9' {
		return 0
	}
	return id
}

// id returns an id of the URL. checkParams has checked it.
func id(c *gin.Context, param string) int64 { return parsed(c.Param(param)) }
