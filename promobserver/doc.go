// Package promobserver counts what a [pathlock.Locker] does, for Prometheus.
//
//	locks := promobserver.New()
//	prometheus.MustRegister(locks)
//	locker := pathlock.New(store, pathlock.WithObserver(locks))
//
// No label is a path, an id, a tree, an owner or a route. Labels are the outcome, the step, and the
// operation from [pathlock.Origin]: at most 24 different operations, and "other" for the rest.
//
// docs/operating.md lists the metrics, the alerts on them, and what to do about each.
package promobserver
