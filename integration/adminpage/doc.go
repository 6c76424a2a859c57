// Package adminpage tests the admin page in a headless Chromium: a gin server with the handler of
// package admin, on a lock store in memory, while locks come and go. It also tests that the page's
// API answers as its OpenAPI document says.
package adminpage
