package chromium

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// Variable is the environment variable that names the browser's program. Without it, the tests use
// the first of chromium, chromium-browser and google-chrome in PATH.
const Variable = "PATHLOCK_TEST_CHROMIUM"

// Browser is the browser of a test binary. The first tab starts it, and [Browser.Main] ends it. The
// zero value is ready.
type Browser struct {
	starting sync.Once
	failed   error
	ctx      context.Context
	free     context.CancelFunc
}

// Main returns a test binary's tests for a TestMain, with the end of the browser, and of what else
// there is to end, behind them:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(browser.Main(m)) }
func (b *Browser) Main(tests interface{ Run() int }, ends ...func()) interface{ Run() int } {
	return runner(func() int {
		code := tests.Run()
		for _, end := range ends {
			end()
		}
		if err := b.end(); err != nil {
			fmt.Println("chromium:", err)
			return max(code, 1)
		}
		return code
	})
}

// runner is what goleak takes for tests.
type runner func() int

// Run implements what a TestMain asks for.
func (r runner) Run() int { return r() }

// program returns the browser's path, or skips the test.
func program(t testing.TB) string {
	t.Helper()
	if named := os.Getenv(Variable); named != "" {
		return named
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	testserver.Missing(t, "there is no Chromium, and "+Variable+" names none")
	return ""
}

// start starts the browser unless it runs.
func (b *Browser) start(t testing.TB) {
	t.Helper()
	path := program(t)
	b.starting.Do(func() {
		allocator, free := chromedp.NewExecAllocator(context.Background(), flags(path)...)
		ctx, _ := chromedp.NewContext(allocator) // end cancels it
		b.ctx, b.free = ctx, free
		b.failed = chromedp.Do(ctx)
	})
	if b.failed != nil {
		t.Fatalf("starting %s: %v", path, b.failed)
	}
}

// flags are the program and its command line. The user's data goes into a new folder, which is
// removed with the browser. Root has no sandbox.
func flags(path string) []chromedp.ExecAllocatorOption {
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path),
		chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck,
		chromedp.Headless,
		chromedp.DisableGPU,
		chromedp.WindowSize(desktopWidth, desktopHeight),
	}
	for _, on := range []string{
		// No connection is made but the page's own.
		"disable-background-networking", "disable-component-update", "disable-sync",
		// A tab runs as if it were in front, though others are.
		"disable-background-timer-throttling", "disable-backgrounding-occluded-windows", "disable-renderer-backgrounding",
		// Containers have little shared memory.
		"disable-dev-shm-usage",
		"hide-scrollbars",
		// Without a graphics card, the processor draws what moves, sixty times a second.
		"force-prefers-reduced-motion",
	} {
		options = append(options, chromedp.Flag(on, true))
	}
	// It has no process ready for the next tab, which would mostly be one too many.
	options = append(options, chromedp.Flag("disable-features", "SpareRendererForSitePerProcess"))
	return append(options, chromedp.Flag("lang", "en-GB"))
}

// end closes the browser, if it was started, and waits for the end of its processes.
func (b *Browser) end() error {
	b.starting.Do(func() {}) // nothing starts it from here on
	if b.ctx == nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	err := chromedp.Cancel(bounded)
	b.free()
	return err
}
