package lockserver

import (
	"errors"
	"time"
)

// ErrMissing is matched by the error for a server whose programs are not installed.
var ErrMissing = errors.New("not installed")

// How long a server may take to start and to stop.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)
