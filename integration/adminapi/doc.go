// Package adminapi tests that the API of package admin answers as its OpenAPI document says.
package adminapi
