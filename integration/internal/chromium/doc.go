// Package chromium drives pages in a headless Chromium for tests: one browser for each test binary,
// and for each test as many tabs as it opens, which share neither cookies nor storage.
//
// A tab watches what a person would only see in the developer tools. Errors on the console,
// exceptions that nobody catches, violations of the Content-Security-Policy, which allows no other
// host, and crashes are problems. A problem that the test does not expect fails it.
//
// Nothing sleeps: [Tab.Await] looks again whenever the page changes, and time-outs bound failures
// only. Clicks and keys are the browser's own input events. A click on something that is covered,
// disabled or outside the window fails as it would for a person.
//
// Where there is no Chromium, the test is skipped as package testserver says, and fails in CI.
package chromium
