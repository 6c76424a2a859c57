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

// entryKey names an entry of a snapshot among all entries of its tree, for as long as it lives.
func entryKey(holder string, h *pathlock.Hold, waiting bool) string {
	switch {
	case waiting:
		return holder + "-w" + strconv.FormatInt(h.Since.UnixMicro(), 36)
	case h.Fence == 0:
		return holder + "-gate" // taken by a program that knows no fences
	default:
		return holder + "-" + strconv.FormatUint(h.Fence, 36)
	}
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
