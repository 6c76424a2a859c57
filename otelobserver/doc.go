// Package otelobserver traces what a [pathlock.Locker] does with OpenTelemetry. For metrics, use
// package promobserver: OpenTelemetry's Prometheus bridge exports them, too.
//
//	traces := otelobserver.New()
//	locker := pathlock.New(store, pathlock.WithObserver(traces))
//	traces.LinkBlockers(locker)
//
// There is a span for each acquisition that asks the lock store, "pathlock acquire", with one below
// it for its wait, "pathlock wait". The steps around locks have spans too: "pathlock resolve",
// "pathlock handler", "pathlock assert", "pathlock commit", "pathlock rollback", "pathlock retry"
// and "pathlock release". "pathlock lost" marks the moment at which a loss is noticed. A wait has
// links to the acquisitions that it waits for, whichever process made them: the observer writes its
// trace into the [pathlock.Origin] of its own acquisitions.
//
// Spans name neither paths nor ids, unless [Paths] says so.
package otelobserver
