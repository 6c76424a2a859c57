// Package fault has the errors by which the plugin refuses a write, or gives one up.
//
// Every floor above says what went wrong by one of them. Package gormplugin re-exports them all, so
// that errors.Is and errors.As work from outside; what each means to a caller stands there.
package fault
