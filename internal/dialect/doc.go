// Package dialect knows what each database says and needs: its row locks, its SQL where that
// differs, what its errors mean, and how to ask it what it is. It knows nothing of tables,
// transactions or trees.
//
// A further database is a further file with a [Dialect], and an entry in the list of those known.
package dialect
