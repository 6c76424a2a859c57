// Package readme has the code that README.md and the pages of docs show, in English and Chinese.
// Tests check that every Go block is here, that every command works, and that both languages have
// the same structure, code and numbers.
package readme

// Code that the pages show, and that is only compiled here.
var _ = []any{authorizing, lend, nightly, newKeys, routeOnce, consume, rewrite}
