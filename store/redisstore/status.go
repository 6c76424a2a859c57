package redisstore

// The statuses that begin the replies of the scripts. The header of each script in the folder
// scripts says what follows them.
const (
	statusGranted     = "granted"
	statusQueued      = "queued"
	statusBusy        = "busy"
	statusFull        = "full"
	statusLost        = "lost"
	statusWithdrawn   = "withdrawn"
	statusDeadlock    = "deadlock"
	statusReleased    = "released"
	statusTransferred = "transferred"
	statusTaken       = "taken"
)
