package httpapi

import (
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// checkParams refuses requests whose URL has an id that is none, before
// anything else is done for them.
func (a *api) checkParams(c *gin.Context) {
	for _, p := range c.Params {
		var err error
		if p.Key == "project" {
			err = plans.CheckProject(p.Value)
		} else if parsed(p.Value) == 0 {
			err = &plans.InvalidError{Field: p.Key, Reason: "must be a positive decimal integer"}
		}
		if err != nil {
			a.fail(c, err)
			return
		}
	}
}

// parsed returns the id that a text is, and 0 if it is none.
func parsed(text string) int64 {
	if text == "" || text[0] < '1' || text[0] > '9' {
		return 0
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// id returns an id of the URL, which checkParams has seen.
func id(c *gin.Context, param string) int64 { return parsed(c.Param(param)) }
