package instance

import (
	"net"
	"net/http"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
)

// adminPage shows the locks, and the stalls that there were. The backend has no authentication:
// whoever reaches it may look, as at everything else. Whether they may release what others hold is
// a setting.
func adminPage(locker *pathlock.Locker, history *contention.Recorder, config Config) (*admin.Page, error) {
	c := admin.Config{
		Authorize: func(*http.Request) error { return nil },
		Hosts:     config.Hosts,
		History:   history,
		Log:       config.Log,
	}
	if config.AdminRelease {
		c.AuthorizeRelease = func(r *http.Request) (string, error) {
			host, _, _ := net.SplitHostPort(r.RemoteAddr)
			return "somebody at " + host, nil
		}
	}
	return admin.New(locker, c)
}

// closeAdmin ends the admin page and its history, as far as there are any.
func (i *Instance) closeAdmin() {
	if i.Admin != nil {
		i.Admin.Close()
	}
	if i.history != nil {
		i.history.Close()
	}
}
