package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
)

const (
	// maxRelease is the largest body of a release, in bytes.
	maxRelease = 4 << 10
	// minReason and maxReason are how many characters a reason has.
	minReason, maxReason = 3, 500
	// releaseTimeout is how long a release may take.
	releaseTimeout = 10 * time.Second
)

// release is what a release asks for.
type release struct {
	Namespace string `json:"namespace"`
	ID        string `json:"id"`
	// Key is the key of the entry that the operator looked at: a grant, or a request that waits.
	Key    string `json:"key"`
	Reason string `json:"reason"`

	tree pathlock.Tree
}

// releasedAnswer says how many entries were taken away.
type releasedAnswer struct {
	Entries int `json:"entries"`
}

// serveRelease takes away an owner's holds and places in the queue of a tree.
func (p *page) serveRelease(w http.ResponseWriter, r *http.Request) {
	who, err := p.mayRelease(r)
	if err != nil {
		fail(w, err)
		return
	}
	asked, err := readRelease(w, r)
	if err != nil {
		fail(w, err)
		return
	}
	// Whether the operator's browser is still there makes no difference.
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.Context()), releaseTimeout)
	defer stop()
	seen, entries, err := p.release(ctx, asked)
	log := []slog.Attr{
		slog.String("who", shown.Text(who)), slog.String("reason", asked.Reason), slog.String("tree", asked.tree.String()),
		slog.String("key", shown.Text(asked.Key)), slog.String("remote", r.RemoteAddr),
	}
	if seen.Owner != "" {
		log = append(log, slog.Any("owner", seen.Owner), slog.Uint64("fence", seen.Fence), slog.Int("entries", entries),
			slog.String("note", shown.Text(p.newRedactor().note(seen.Note))), slog.String("route", shown.Text(seen.Origin.Route)),
			slog.String("instance", shown.Text(seen.Origin.Instance)), slog.String("request_id", shown.Text(seen.Origin.RequestID)))
	}
	if err != nil {
		message := "pathlock admin: a release failed"
		if errors.Is(err, errNoAnswer) {
			message = "pathlock admin: a release had no answer: it may have taken place"
		}
		p.config.Log.LogAttrs(ctx, slog.LevelWarn, message, append(log, slog.Any("error", err))...)
		fail(w, err)
		return
	}
	p.config.Log.LogAttrs(ctx, slog.LevelWarn, "pathlock admin: an operator released a holder", log...)
	p.cache.forget(asked.tree)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(releasedAnswer{entries}))
}

// readRelease reads and checks the body.
func readRelease(w http.ResponseWriter, r *http.Request) (release, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		// A form of a foreign page can send other types without asking first.
		return release{}, newProblem(http.StatusUnsupportedMediaType, "unsupported-media-type", "the body must be application/json")
	}
	var asked release
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRelease))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return release{}, newProblem(http.StatusRequestEntityTooLarge, "too-large", "the body has more than 4096 bytes")
	}
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil || !utf8.Valid(body) {
		return release{}, invalid("body", "the body is not a JSON object with namespace, id, key and reason")
	}
	return asked, asked.check()
}

func (a *release) check() (err error) {
	a.tree, err = treeOf(a.Namespace, a.ID)
	a.Reason = strings.TrimSpace(a.Reason)
	switch n := utf8.RuneCountInString(a.Reason); {
	case err != nil:
		return err
	case a.Key == "":
		return invalid("key", "the key of the entry is missing")
	case n < minReason || n > maxReason:
		return invalid("reason", "a reason of 3 to 500 characters is needed")
	case strings.ContainsFunc(a.Reason, func(r rune) bool { return !showable(r) }):
		return invalid("reason", "the reason has control characters or line breaks")
	}
	return nil
}

// showable reports whether a character has a place in a line of text: no control character, and
// nothing that turns the direction of what follows.
func showable(r rune) bool {
	const joiner = '\u200d' // within emoji
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) || r == joiner
}

// errNoAnswer says that the store was asked to release, and has not said whether it did.
var errNoAnswer = errors.New("no answer to the release")

// release releases the owner of an entry by force, if the tree still has that very entry. It
// returns the entry, and how many the owner had.
func (p *page) release(ctx context.Context, asked release) (seen pathlock.Entry, entries int, err error) {
	s, err := p.locks.Snapshot(ctx, asked.tree)
	if err != nil {
		return seen, 0, err
	}
	s.Tree = asked.tree
	owned := make(map[pathlock.Owner]int)
	for e, key := range entryKeys(&s) {
		owned[e.Owner]++
		if key == asked.Key {
			seen = *e
		}
	}
	gone := newProblem(http.StatusConflict, "gone", "the holder does not have this any more; nothing was released")
	if seen.Owner == "" {
		return seen, 0, gone
	}
	entries = owned[seen.Owner]
	err = p.locks.ForceRelease(ctx, asked.tree, seen.Owner)
	switch {
	case errors.Is(err, pathlock.ErrNotHeld):
		return pathlock.Entry{}, 0, gone
	case err != nil:
		return seen, entries, fmt.Errorf("%w: %w", errNoAnswer, err)
	default:
		return seen, entries, nil
	}
}
