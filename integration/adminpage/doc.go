// Package adminpage tests the admin page in a headless Chromium: a gin server with the handler of
// package admin, on a lock store in memory and on Redis, while locks come and go.
//
// The pictures in docs/images are made by
//
//	go test ./integration/adminpage -run Screenshots -screenshots
package adminpage
