// Package admin is a page that shows who holds which locks, who waits for whom, and the last waits.
// The page is an [http.Handler], which gin mounts in one line:
//
//	page, err := admin.New(locker, admin.Config{Authorize: signedIn, AuthorizeRelease: operator})
//	r.Any("/admin/locks/*any", gin.WrapH(page))
//
// It shows the locks of every process that shares the lock store. The last waits, from a
// [contention.Recorder], are those of the process that answers. The page refreshes every
// [Config.Poll]. In that time, it reads a tree once for all viewers, and never if there are none.
//
// [Config.Authorize] decides who may look; without it, [New] fails. [Config.AuthorizeRelease]
// decides who may take away the locks of a stuck holder; without it, the page is read-only.
//
// A release names, by its key, the entry that the operator has seen: a grant or a waiting request.
// If the tree no longer has that entry, the page releases nothing, whatever its owner holds by
// then. The page looks right before the release. The release then takes everything that the owner
// has, including what it acquired in between. The key consists of hashes, because an owner is a
// secret: knowing it is enough to release its holds. The key is the same in every process, so a
// proxy may send the release to another instance than the one that showed the entry.
package admin
