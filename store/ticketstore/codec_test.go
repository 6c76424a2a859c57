package ticketstore

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

func TestTicket_isReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			if rapid.Bool().Draw(t, "none") {
				return time.Time{}
			}
			return time.UnixMicro(rapid.Int64Range(1, 1<<52).Draw(t, "µs")).UTC()
		})
		name := rapid.StringMatching(`[^/\x00]{1,20}`).Filter(func(s string) bool {
			_, err := pathlock.ParsePath("/" + s)
			return err == nil
		})
		want := Ticket{
			Home: rapid.String().Draw(t, "home"),
			Record: locktable.Record{
				Place: rapid.Uint64().Draw(t, "place"), Owner: pathlock.Owner(rapid.String().Draw(t, "owner")),
				Until: moment.Draw(t, "until"), OwnerUntil: moment.Draw(t, "owner until"), WaitUntil: moment.Draw(t, "wait until"),
				Grant: pathlock.GrantID(rapid.String().Draw(t, "grant")),
				Gate:  rapid.Bool().Draw(t, "gate"), Apart: rapid.Bool().Draw(t, "apart"), Note: rapid.String().Draw(t, "note"),
				Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/" + name.Draw(t, "name")))),
				Lease:  time.Duration(rapid.Int64Min(0).Draw(t, "lease")),
				Fence:  rapid.Uint64().Draw(t, "fence"), Held: rapid.Bool().Draw(t, "held"), Since: moment.Draw(t, "since"),
			},
			State: rapid.SampledFrom([]TicketState{Waiting, Granted, Refused}).Draw(t, "state"),
			Looks: rapid.Uint64().Draw(t, "looks"),
		}
		if rapid.Bool().Draw(t, "refused") {
			want.Refusal = &refusal{Lost: rapid.String().Draw(t, "why")}
		}
		if rapid.Bool().Draw(t, "a deadlock") {
			want.Refusal = refusalOf(&pathlock.DeadlockError{Path: want.Claims[1].Path, Mode: pathlock.ModeX, Blocker: pathlock.Blocker{Owner: want.Owner, Mode: pathlock.ModeS}})
		}
		text := Encode(want)
		if !utf8.Valid(text) || bytes.ContainsAny(text, "\x00\n") {
			t.Fatalf("%q is no text that every database takes", text)
		}
		got, err := decode(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nis read as %+v, %v\nwant       %+v", text, got, err, want)
		}
	})
}

func TestTicket_refusesOtherText(t *testing.T) {
	for _, text := range []string{
		"", "[]", `{"state":"elsewhere"}`, `{"state":"granted","claims":["Z /a"]}`, `{"state":"granted","claims":["X a"]}`,
	} {
		if got, err := decode([]byte(text)); err == nil || !strings.Contains(err.Error(), "not a ticket") {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
}
