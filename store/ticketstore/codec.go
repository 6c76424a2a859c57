package ticketstore

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
)

// Encode returns a ticket as text: JSON, which is valid UTF-8 and has no NUL, whatever the texts in
// the ticket. Times are microseconds since 1970.
func Encode(t Ticket) []byte {
	w := ticketWire{
		Home: text(t.Home), Place: t.Place, Owner: text(t.Owner), Grant: text(t.Grant), Gate: t.Gate, Apart: t.Apart,
		Claims: claimsWire(t.Claims), Note: text(t.Note), Lease: t.Lease, State: t.State, Fence: t.Fence,
		Since: instantOf(t.Since), Until: instantOf(t.Until), OwnerUntil: instantOf(t.OwnerUntil), WaitUntil: instantOf(t.WaitUntil),
		Held: t.Held, Looks: t.Looks,
	}
	if len(t.Reason) > 0 {
		w.Reason = t.Reason
	}
	encoded, err := json.Marshal(w)
	if err != nil {
		// The type has nothing that cannot be written, unless Reason is somebody else's.
		w.Reason = nil
		encoded, _ = json.Marshal(w)
	}
	return encoded
}

// Decode returns the ticket that [Encode] has written. Its Key is empty.
func Decode(encoded []byte) (Ticket, error) {
	var w ticketWire
	if err := json.Unmarshal(encoded, &w); err != nil {
		return Ticket{}, fmt.Errorf("ticketstore: not a ticket: %w", err)
	}
	switch w.State {
	case Waiting, Granted, Refused:
	default:
		return Ticket{}, fmt.Errorf("ticketstore: not a ticket: its state is %q", w.State)
	}
	return Ticket{
		Home: string(w.Home), Place: w.Place, Owner: pathlock.Owner(w.Owner), Grant: pathlock.GrantID(w.Grant), Gate: w.Gate, Apart: w.Apart,
		Claims: w.Claims, Note: string(w.Note), Lease: w.Lease, State: w.State, Fence: w.Fence,
		Since: w.Since.time(), Until: w.Until.time(), OwnerUntil: w.OwnerUntil.time(), WaitUntil: w.WaitUntil.time(),
		Held: w.Held, Looks: w.Looks, Reason: w.Reason,
	}, nil
}

// ticketWire is the form of a ticket in JSON.
type ticketWire struct {
	Home       text            `json:"home,omitempty"`
	Place      uint64          `json:"place"`
	Owner      text            `json:"owner"`
	Grant      text            `json:"grant"`
	Gate       bool            `json:"gate,omitempty"`
	Apart      bool            `json:"apart,omitempty"`
	Claims     claimsWire      `json:"claims,omitempty"`
	Note       text            `json:"note,omitempty"`
	Lease      time.Duration   `json:"lease"`
	State      TicketState     `json:"state"`
	Fence      uint64          `json:"fence,omitempty"`
	Since      instant         `json:"since,omitzero"`
	Until      instant         `json:"until,omitzero"`
	OwnerUntil instant         `json:"owner_until,omitzero"`
	WaitUntil  instant         `json:"wait_until,omitzero"`
	Held       bool            `json:"held,omitempty"`
	Looks      uint64          `json:"looks,omitempty"`
	Reason     json.RawMessage `json:"reason,omitempty"`
}

// text is a string of any bytes. What is not UTF-8 is written in base64, in a form that no string
// has.
type text string

func (s text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(s)) {
		return json.Marshal(string(s))
	}
	return json.Marshal([]string{base64.StdEncoding.EncodeToString([]byte(s))})
}

func (s *text) UnmarshalJSON(encoded []byte) error {
	if len(encoded) == 0 || encoded[0] != '[' {
		return json.Unmarshal(encoded, (*string)(s))
	}
	var in [1]string
	if err := json.Unmarshal(encoded, &in); err != nil {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(in[0])
	*s = text(b)
	return err
}

// claimsWire is a claim set, of which each claim is written as "X /dir1/dir2".
type claimsWire []pathlock.Claim

func (c claimsWire) MarshalJSON() ([]byte, error) {
	claims := make([]text, len(c))
	for i := range c {
		claims[i] = text(c[i].Mode.String() + " " + c[i].Path.String())
	}
	return json.Marshal(claims)
}

func (c *claimsWire) UnmarshalJSON(encoded []byte) error {
	var claims []text
	if err := json.Unmarshal(encoded, &claims); err != nil {
		return err
	}
	*c = make(claimsWire, len(claims))
	for i, claim := range claims {
		mode, path, _ := strings.Cut(string(claim), " ")
		if err := (*c)[i].Mode.UnmarshalText([]byte(mode)); err != nil {
			return err
		}
		if err := (*c)[i].Path.UnmarshalText([]byte(path)); err != nil {
			return err
		}
	}
	return nil
}

// instant is a time in microseconds since 1970, 0 for the zero time.
type instant int64

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(i))
}

func instantOf(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	return instant(t.UnixMicro())
}
