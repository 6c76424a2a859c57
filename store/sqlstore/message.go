package sqlstore

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// message tells a process that a ticket is not what it was.
type message struct {
	home  string
	tree  treeKey
	place uint64
}

// join returns messages as text, each a channel and a payload.
func join(messages []message) string {
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = m.home + " " + m.payload()
	}
	return strings.Join(texts, ",")
}

func (m message) payload() string {
	return hex.EncodeToString(m.tree[:]) + "/" + strconv.FormatUint(m.place, 10)
}

// parsePayload undoes payload.
func parsePayload(home, payload string) (message, bool) {
	m := message{home: home}
	tree, place, ok := strings.Cut(payload, "/")
	if !ok || len(tree) != hex.EncodedLen(len(m.tree)) {
		return m, false
	}
	if _, err := hex.Decode(m.tree[:], []byte(tree)); err != nil {
		return m, false
	}
	var err error
	m.place, err = strconv.ParseUint(place, 10, 64)
	return m, err == nil
}
