package page

import (
	"reflect"
	"testing"
	"time"
)

func FuzzParseTicket(f *testing.F) {
	full := &ticket{ID: [16]byte{1}, Expires: time.Unix(1_800_000_000, 0), Key: "k", Message: "m", Method: "tools/call", Name: "n", Client: "c", ClientID: "i", Data: "d", Task: "t"}
	f.Add(full.append(nil))
	f.Add((&ticket{Expires: time.Unix(0, 0)}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := parseTicket(b)
		if err != nil {
			return
		}
		again, err := parseTicket(x.append(nil))
		if err != nil || !reflect.DeepEqual(x, again) {
			t.Errorf("%+v comes back as %+v (%v)", x, again, err)
		}
	})
}

func TestTicket(t *testing.T) {
	x := &ticket{ID: [16]byte{1}, Expires: time.Unix(1_800_000_000, 0), Key: "k", Message: "m", Method: "tools/call", Name: "n", Client: "c", ClientID: "i", Data: "d", Task: "t"}
	b := x.append(nil)
	if again, err := parseTicket(b); err != nil || !reflect.DeepEqual(x, again) {
		t.Errorf("%+v comes back as %+v (%v)", x, again, err)
	}
	for n := range b {
		if _, err := parseTicket(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are a ticket", n, len(b))
		}
	}
	if _, err := parseTicket(append(b, 0)); err == nil {
		t.Error("a byte too many is no matter")
	}
}
