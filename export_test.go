package pathlock

import "time"

// SuspendHost makes l see what a suspended host sees when it is resumed.
func SuspendHost(l *Locker, d time.Duration) { l.renewer.Suspend(d) }
