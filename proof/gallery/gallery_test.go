// Package gallery has failures that others have reported in public, each as a transcript that is
// played without pathlock, where it happens, and with pathlock. README.md lists them.
package gallery

import "testing"

// edly-io/sparkth#553, eng-floe/floecat#489: a create races a move or a delete, and is orphaned; it
// waits, and gets the new path.
func TestGallery_createBesideMove(t *testing.T) {
	play(t, `
		given /a /a/x /b        |                     |
		A plans move /a to /b   |                     |
		B plans create /a/x/new |                     | waits
		A writes                | done                | done
		B writes                | done                | done
		the tree                | wrong-path /a/x/new | /b /b/a /b/a/x /b/a/x/new
	`)
}

// Significant-Gravitas/AutoGPT#14773, enonic/xp#5659: live rows below deleted ones, or orphans; the
// move waits, then fails with not-found.
func TestGallery_deleteBesideMove(t *testing.T) {
	play(t, `
		given /a /a/x /b        |               |
		A plans delete /a       |               |
		B plans move /b to /a/x |               | waits
		A writes                | done          | done
		B writes                | done          | not-found
		the tree                | orphan /a/x/b | /b
	`)
}

// wafflebase/wafflebase#500, GoogleCloudPlatform/gcc-creative-studio#277: both pass their checks,
// and make a cycle; the second waits, then fails with would-cycle.
func TestGallery_movesThatCross(t *testing.T) {
	play(t, `
		given /a /a/b /c /c/d   |                  |
		A plans move /a to /c/d |                  |
		B plans move /c to /a/b |                  | waits
		A writes                | done             | done
		B writes                | done             | would-cycle
		the tree                | cycle /a/b/c/d/a | /c /c/d /c/d/a /c/d/a/b
	`)
}

// tinyhumansai/opencompany#759: the path is ambiguous, and refused for good; the second waits, then
// fails with name-taken.
func TestGallery_twoFoldersOfOneName(t *testing.T) {
	play(t, `
		given /a              |                  |
		A plans create /a/new |                  |
		B plans create /a/new |                  | waits
		A writes              | done             | done
		B writes              | done             | name-taken
		the tree              | duplicate /a/new | /a /a/new
	`)
}

// cryptomator/ios#450: a folder moves, its descendants keep their paths; they change in the same
// transaction.
func TestGallery_stalePathsBelow(t *testing.T) {
	play(t, `
		given /a /a/b /a/b/c   |                                    |
		A plans rename /a to z |                                    |
		A writes               | done                               | done
		B lists /z             |                                    | /z/b /z/b/c
		the tree               | wrong-path /a/b, wrong-path /a/b/c | /z /z/b /z/b/c
	`)
}

// nocobase/nocobase#6913: an update of /1/2 changes /1/21; the range ends where the slash does.
func TestGallery_pathsThatBeginAlike(t *testing.T) {
	play(t, `
		given /1 /1/1 /1/1/x /1/10 /1/10/x /2 |                                      |
		A plans move /1/1 to /2               |                                      |
		A writes                              | done                                 | done
		B lists /1/10                         |                                      | /1/10/x
		the tree                              | wrong-path /2/10, wrong-path /2/10/x | /1 /1/10 /1/10/x /2 /2/1 /2/1/x
	`)
}

// etcd-io/etcd#11456: a client still believes in its lock; its context ends before the next grant.
func TestGallery_lockThatOutlivesItsLease(t *testing.T) {
	play(t, `
		A locks /a   | holds it            | holds it
		B locks /a   | waits               | waits
		A is cut off | holds it            | holds it
		31s later: B | holds it, as A does | holds it
		A is back    | holds it            | lost it
	`)
}

// redisson/redisson#3891: the waiter sleeps for a whole lease; it asks again once it is connected.
func TestGallery_lostWakeup(t *testing.T) {
	play(t, `
		A locks /a   | holds it | holds it
		B locks /a   | waits    | waits
		B is cut off | waits    | waits
		A unlocks    | done     | done
		B is back    | waits    | holds it
		30s later: B | holds it | holds it
	`)
}

// laravel/framework#26213: a late unlock deletes the next lock; it unlocks nothing, and is told so.
func TestGallery_unlockByTheWrongOwner(t *testing.T) {
	play(t, `
		A locks /a   | holds it            | holds it
		A is cut off | holds it            | holds it
		31s later: B |                     |
		B locks /a   | holds it, as A does | holds it
		A is back    | holds it            | lost it
		A unlocks    | done                | had lost it
		C locks /a   | holds it, as B does | waits
	`)
}

// minio/minio#2629: new readers pass the waiting writer; they queue behind it.
func TestGallery_writerStarvedByReaders(t *testing.T) {
	play(t, `
		A reads /a   | holds it | holds it
		B locks /a   | waits    | waits
		C reads /a   | holds it | waits
		A unlocks    | done     | done
		31s later: B | waits    | holds it
		A reads /a   | holds it | waits
	`)
}

// opsmill/infrahub#9450: two workers may hold one lock; so they may, but paths are asserted.
func TestGallery_failoverThatForgets(t *testing.T) {
	play(t, `
		given /a /a/x /b        |                     |
		A locks /               | holds it            | holds it
		A plans move /a to /b   |                     |
		Redis fails over        |                     |
		B locks /               | holds it, as A does | holds it, as A does
		B plans create /a/x/new |                     |
		A writes                | done                | done
		B writes                | done                | done
		the tree                | wrong-path /a/x/new | /b /b/a /b/a/x /b/a/x/new
	`)
}
