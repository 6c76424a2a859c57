package storetest

func reentry() topic {
	return topic{"re-entry", []promise{
		{"an owner never conflicts with itself", func(f *fixture) {
			a := f.actor("owner")
			a.takes(s("/a"))
			a.takes(x("/a"))
			a.takes(x("/a/b"))
			a.takes(x("/"))
			a.takes(six("/a"))
		}},
		{"an upgrade is granted where no other owner is in the way", func(f *fixture) {
			a := f.actor("owner")
			a.takes(s("/a"))
			reader := f.actor("reader").takes(s("/a"))
			a.isRefused(x("/a"))
			reader.release()
			a.takes(x("/a"))
			f.actor("reader").isRefused(s("/a"))
		}},
		{"an upgrade that waits keeps what it had", func(f *fixture) {
			a := f.actor("owner")
			a.takes(s("/a"))
			reader := f.actor("reader").takes(s("/a"))
			upgrade := a.queuesFor(x("/a"))
			f.actor("writer").isRefused(ix("/a"))
			upgrade.isCancelled()
			reader.release()
			f.actor("writer").isRefused(ix("/a"))
			f.actor("reader").takes(s("/a"))
		}},
		{"what an owner has on a node is the supremum: IX and S keep out all but IS", func(f *fixture) {
			a := f.actor("owner")
			a.takes(ix("/a"))
			a.takes(s("/a"))
			f.actor("IX").isRefused(ix("/a"))
			f.actor("S").isRefused(s("/a"))
			f.actor("SIX").isRefused(six("/a"))
			f.actor("X").isRefused(x("/a"))
			f.actor("IS").takes(is("/a"))
		}},
		{"IX and S, the S released, leave IX", func(f *fixture) {
			a := f.actor("owner")
			a.takes(ix("/a"))
			a.takes(s("/a")).release()
			f.actor("IX").takes(ix("/a"))
			f.actor("S").isRefused(s("/a"))
		}},
		{"IX and S, the IX released, leave S", func(f *fixture) {
			a := f.actor("owner")
			intention := a.takes(ix("/a"))
			a.takes(s("/a"))
			intention.release()
			f.actor("S").takes(s("/a"))
			f.actor("IX").isRefused(ix("/a"))
		}},
		{"scenario 5: a downgrade from X to S lets readers in and keeps writers out", func(f *fixture) {
			a := f.actor("owner")
			exclusive := a.takes(x("/a"))
			a.takes(s("/a"))
			f.actor("reader").isRefused(s("/a"))
			exclusive.release()
			f.actor("reader").takes(s("/a"))
			f.actor("writer").isRefused(x("/a"))
		}},
		{"scenario 5: a downgrade keeps a queued writer out", func(f *fixture) {
			a := f.actor("owner")
			exclusive := a.takes(x("/a"))
			shared := a.takes(s("/a"))
			writer := f.actor("writer").queuesFor(x("/a"))
			exclusive.release()
			writer.stillWaits()
			shared.release()
			writer.isGranted()
		}},
		{"a downgrade lets a queued reader in", func(f *fixture) {
			a := f.actor("owner")
			exclusive := a.takes(x("/a"))
			a.takes(s("/a"))
			reader := f.actor("reader").queuesFor(s("/a"))
			exclusive.release()
			reader.isGranted()
		}},
		{"two grants of one claim: the last release counts", func(f *fixture) {
			a := f.actor("owner")
			outer := a.takes(x("/a"))
			inner := a.takes(x("/a"))
			inner.release()
			f.actor("other").isRefused(x("/a"))
			outer.release()
			f.actor("other").takes(x("/a"))
		}},
		{"the ancestors of one grant survive the release of another", func(f *fixture) {
			a := f.actor("owner")
			first := a.takes(x("/dir/a"))
			a.takes(x("/dir/b"))
			first.release()
			f.actor("other").isRefused(x("/dir"))
			f.actor("other").isRefused(s("/"))
			f.actor("other").takes(x("/dir/a"))
		}},
	}}
}
