package ticketstore

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// Whatever is changed, a list is what a map of places would be, as it is and as it is read back, by
// a decoder that knows the lines and by one that does not.
func TestList_isAMapOfPlaces(t *testing.T) {
	var experienced Decoder
	rapid.Check(t, func(t *rapid.T) {
		var list List
		want := map[uint64]Ticket{}
		update := func(places []uint64, note string) {
			var c Changes
			for _, place := range places {
				if gone, ok := want[place]; ok && place%2 == 0 {
					c.Delete = append(c.Delete, gone)
					delete(want, place)
					continue
				}
				ticket := Ticket{State: Waiting, Record: locktable.Record{Place: place, Until: time.UnixMicro(7).UTC(), Note: note}}
				c.Put = append(c.Put, ticket)
				ticket.Key = keyOf(ticket)
				want[place] = ticket
			}
			list = list.With(c)
		}
		few := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 12), 0, 8, rapid.ID)
		for range rapid.IntRange(0, 9).Draw(t, "updates") {
			update(few.Draw(t, "places"), rapid.SampledFrom([]string{"", "a\nb", "\u2028"}).Draw(t, "note"))
		}
		text := list.Encode()
		for _, d := range []*Decoder{&experienced, {}} {
			got, err := d.Decode(text)
			if err != nil || len(got.Tickets) != len(want) || len(list.Tickets) != len(want) {
				t.Fatalf("%d tickets of %d, %d, error %v", len(got.Tickets), len(list.Tickets), len(want), err)
			}
			for i, ticket := range got.Tickets {
				if !reflect.DeepEqual(ticket, want[ticket.Place]) || !reflect.DeepEqual(ticket, list.Tickets[i]) || i > 0 && got.Tickets[i-1].Place >= ticket.Place {
					t.Fatalf("%+v is read, want %+v", ticket, want[ticket.Place])
				}
			}
		}
	})
}
