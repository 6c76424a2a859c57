package anystore

import (
	"cmp"
	"strings"
)

// Trouble says in a few words why a store does not serve: what the error of its Ping means. The
// text continues "the lock store …". It has no addresses, so that clients may see it. It is empty
// for no error.
func Trouble(err error) string {
	if err == nil {
		return ""
	}
	for _, k := range new(options).kinds() {
		if k.trouble == nil {
			continue
		}
		if means, ok := k.trouble(err); ok {
			return cmp.Or(means, "refuses what it is asked for")
		}
	}
	return cmp.Or(meaning(err.Error(), tlsRefusals), "does not answer")
}

// tlsRefusals are what the handshake says, with any server.
var tlsRefusals = []refusal{
	{"failed to verify certificate", "has a certificate that is not trusted"},
	{"remote error: tls", "refuses this client's TLS"},
	{"server does not support TLS", "does not speak TLS"},
}

// refusal is what a server means that answers but does not serve, by a part of what it says.
type refusal struct{ says, means string }

// meaning returns what a server's text means, "" if that is not known.
func meaning(text string, refusals []refusal) string {
	for _, r := range refusals {
		if strings.Contains(text, r.says) {
			return r.means
		}
	}
	return ""
}
