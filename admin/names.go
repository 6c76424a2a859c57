package admin

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
)

// holderID names an owner in a tree to those who may not know the owner itself. It is 80 bits of a
// hash, which nobody can turn back: an owner has 130 random bits. There is no key in it, so that
// all instances give a holder the same id.
func holderID(tree pathlock.Tree, owner pathlock.Owner) string {
	sum := sha256.Sum256([]byte("pathlock admin\x00" + tree.Namespace() + "\x00" + tree.ID() + "\x00" + string(owner)))
	return base32.StdEncoding.EncodeToString(sum[:10])
}

// entryKeys names each entry of a snapshot among all that its tree has and ever had. All instances
// give an entry the same key, and an owner's next request has another one.
func entryKeys(s *pathlock.Snapshot) map[*pathlock.Entry]string {
	keys := make(map[*pathlock.Entry]string, len(s.Holders)+len(s.Waiters))
	known := make(map[string]bool, len(s.Holders)+len(s.Waiters))
	for _, all := range [][]pathlock.Entry{s.Holders, s.Waiters} {
		for i := range all {
			first := entryKey(s.Tree, &all[i])
			key := first
			for n := 2; known[key]; n++ { // one owner's requests for the same, of the same microsecond
				key = first + "-" + strconv.Itoa(n)
			}
			known[key] = true
			keys[&all[i]] = key
		}
	}
	return keys
}

// entryKey names an entry by its fence, which no other grant has. A request that waits has none: it
// is named by when its wait began, and by what it asks for.
func entryKey(tree pathlock.Tree, h *pathlock.Entry) string {
	holder := holderID(tree, h.Owner)
	if h.Fence != 0 {
		return holder + "-" + strconv.FormatUint(h.Fence, 36)
	}
	return holder + "-w" + strconv.FormatInt(h.Since.UnixMicro(), 36) + "-" + asks(h)
}

// asks is a hash of what an entry asks for. The owner is in it, so that nobody can find redacted
// names by trying.
func asks(h *pathlock.Entry) string {
	text := string(h.Owner) + "\x00" + strconv.FormatBool(h.Gate)
	for _, c := range h.Claims {
		text += "\x00" + c.Mode.String() + c.Path.String()
	}
	return hashed(text)[:8]
}

// mostPrintable is how many bytes of a text go to the log and to other people's screens.
const mostPrintable = 128

// printable returns a text on one line, without control characters and not too long.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !showable(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) <= mostPrintable {
		return s
	}
	end := mostPrintable
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// showable reports whether a character has a place in a line of text: no control character, and
// nothing that turns the direction of what follows.
func showable(r rune) bool {
	const joiner = '\u200d' // within emoji
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) || r == joiner
}

// hashed shortens a text that has to be the same or different, and nothing else.
func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base32.StdEncoding.EncodeToString(sum[:10])
}
