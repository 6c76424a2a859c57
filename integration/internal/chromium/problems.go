package chromium

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
)

// problems are what a tab has met that a page in good order does not.
type problems struct {
	mu       sync.Mutex
	met      []string
	expected []*regexp.Regexp
}

// see is called with all events of the tab, before the next one is read.
func (p *problems) see(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.add("console: " + spoken(e.Args))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		p.add("exception: " + text)
	case *log.EventEntryAdded:
		// Before it has read a page's link to an icon, the browser may ask for /favicon.ico by
		// itself.
		if e.Entry.Level == log.EntryLevelError && !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
			p.add(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *audits.EventIssueAdded:
		if csp := e.Issue.Details.ContentSecurityPolicyIssueDetails; csp != nil && !csp.IsReportOnly {
			p.add(strings.TrimSpace(fmt.Sprintf("Content-Security-Policy: %s: %s %s",
				csp.ViolatedDirective, csp.ContentSecurityPolicyViolationType, csp.BlockedURL)))
		}
	case *inspector.EventTargetCrashed:
		p.add("the page has crashed")
	}
}

// spoken is what a page has said on the console.
func spoken(args []*runtime.RemoteObject) string {
	words := make([]string, 0, len(args))
	for _, arg := range args {
		words = append(words, arg.Description+string(arg.Value))
	}
	return strings.Join(words, " ")
}

func (p *problems) add(problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.met = append(p.met, problem)
}

// rest returns the problems that were not expected.
func (p *problems) rest() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.met), func(problem string) bool {
		return slices.ContainsFunc(p.expected, func(pattern *regexp.Regexp) bool { return pattern.MatchString(problem) })
	})
}

// Allow says that problems with this text may happen, as the failed request of a page whose server
// is down.
func (tab *Tab) Allow(text string) { tab.AllowMatching(regexp.MustCompile(regexp.QuoteMeta(text))) }

// AllowMatching says that problems of this pattern may happen.
func (tab *Tab) AllowMatching(pattern *regexp.Regexp) {
	tab.problems.mu.Lock()
	defer tab.problems.mu.Unlock()
	tab.problems.expected = append(tab.problems.expected, pattern)
}
