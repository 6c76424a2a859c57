package readme

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
)

// sessions is how the program knows who asks.
type sessions interface {
	User(r *http.Request) string
	IsOperator(user string) bool
}

func recordedLocker(store pathlock.Store) (*pathlock.Locker, *contention.Recorder) {
	history := contention.New(store, contention.Config{})
	return pathlock.New(store, pathlock.WithObserver(history)), history
}

func mountAdmin(r *gin.Engine, locker *pathlock.Locker, history *contention.Recorder, who sessions) (*admin.Page, error) {
	page, err := admin.New(locker, admin.Config{
		Authorize: func(req *http.Request) error {
			if who.User(req) == "" {
				return admin.ErrUnauthorized
			}
			return nil
		},
		AuthorizeRelease: func(req *http.Request) (string, error) {
			user := who.User(req)
			if !who.IsOperator(user) {
				return "", errors.New("no operator")
			}
			return user, nil
		},
		History: history,
	})
	if err != nil {
		return nil, err
	}
	r.Any("/admin/locks/*any", gin.WrapH(page))
	return page, nil
}
