// Package admin is a page that shows who holds which locks, who waits for whom, and the last waits.
// A Page is an [http.Handler], which gin mounts in one line:
//
//	page, err := admin.New(locker, admin.Config{Authorize: signedIn, AuthorizeRelease: operator})
//	r.Any("/admin/locks/*any", gin.WrapH(page))
//
// It shows the locks of every process that shares the lock store. The last waits, from a
// [contention.Recorder], are those of the process which answers. The page asks again every
// [Config.Poll]. A tree is read once in that time for all who look, and never while nobody does.
//
// [Config.Authorize] decides who may look, and nobody may without it: [New] refuses to make such a
// page. [Config.AuthorizeRelease] decides who may take the locks of a stuck holder away. Without it
// the page is read-only.
//
// A release names the entry that the operator has looked at, a grant or a request that waits, by
// its key. If the tree does not have that very entry any more, nothing is released, whatever its
// owner has by then. The key is made of hashes, because an owner is a secret: knowing it is enough
// to release its holds. It is the same in every process, so that a proxy may send a release to
// another instance than the one that showed the entry.
package admin
