package form

import (
	"testing"
	"time"
)

func TestDate(t *testing.T) {
	testRules(t, Date("x"), []ruleTest{
		{`"2026-07-28"`, ""}, {`"2024-02-29"`, ""}, {`"2000-02-29"`, ""}, {`"0000-01-01"`, ""}, {`"9999-12-31"`, ""}, {`""`, ""}, {`null`, ""},
		{`"2026-02-29"`, "format"}, {`"1900-02-29"`, "format"}, {`"2026-13-01"`, "format"}, {`"2026-00-01"`, "format"}, {`"2026-01-00"`, "format"},
		{`"2026-04-31"`, "format"}, {`"26-07-28"`, "format"}, {`"2026-7-28"`, "format"}, {`"2026/07/28"`, "format"}, {`"2026-07-28T00:00:00Z"`, "format"},
		{`"2026-07-2x"`, "format"}, {`"+026-07-28"`, "format"}, {`"२026-07-28"`, "format"}, {`"28.07.2026"`, "format"}, {`20260728`, "type"},
	})
	same(t, "schema", property(t, Date("dueDate").Default(time.Date(2026, 7, 28, 23, 0, 0, 0, time.UTC))),
		`{"type":"string","title":"Due Date","format":"date","default":"2026-07-28"}`)
	same(t, "message", message(t, Date("x"), `"soon"`), `X must be a date, such as 2026-07-28; you entered "soon".`)

	x := Date("x")
	got := x.In(decode(t, New(x), `{"x":"2026-07-28"}`))
	if want := time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDateTime(t *testing.T) {
	testRules(t, DateTime("x"), []ruleTest{
		{`"2026-07-28T14:30:00Z"`, ""}, {`"2026-07-28t14:30:00z"`, ""}, {`"2026-07-28T14:30:00.123456789012+02:00"`, ""}, {`"1963-06-19T08:30:06.283185-23:59"`, ""},
		{`"1998-12-31T23:59:60Z"`, ""}, {`"1998-12-31T23:59:60.5Z"`, ""}, {`"1998-12-31T15:59:60-08:00"`, ""}, {`"1999-01-01T05:29:60+05:30"`, ""}, {`"2026-07-28T00:00:00-00:00"`, ""},
		{`"2026-07-28T14:30:00"`, "format"}, {`"2026-07-28T14:30Z"`, "format"}, {`"2026-07-28 14:30:00Z"`, "format"}, {`"2026-07-28T24:00:00Z"`, "format"},
		{`"2026-07-28T14:60:00Z"`, "format"}, {`"2026-07-28T14:30:61Z"`, "format"}, {`"1998-12-31T23:58:60Z"`, "format"}, {`"1998-12-31T22:59:60Z"`, "format"},
		{`"1998-12-31T23:59:60-08:00"`, "format"}, {`"2026-07-28T14:30:00.Z"`, "format"}, {`"2026-07-28T14:30:00,5Z"`, "format"}, {`"2026-07-28T14:30:00+24:00"`, "format"},
		{`"2026-07-28T14:30:00+02:60"`, "format"}, {`"2026-07-28T14:30:00+0200"`, "format"}, {`"2026-07-28T14:30:00+2:00"`, "format"}, {`"2026-02-29T14:30:00Z"`, "format"},
		{`"2026-07-28T1x:30:00Z"`, "format"}, {`"2026-07-28T14:30:00ZZ"`, "format"}, {`"2026-07-28T14-30-00Z"`, "format"}, {`"2026-07-28T14:30:00.5"`, "format"}, {`"2026-07-28"`, "format"}, {`1`, "type"},
		{`"2026-07-28T14:30:00+ab:00"`, "format"}, {`"9999-12-31T23:59:59Z"`, ""}, {`"9999-12-31T23:59:60Z"`, "format"}, {`"9999-12-31T15:59:60-08:00"`, ""}, {`"2026-07-28T14:30:00.+02:00"`, "format"},
	})
	testRules(t, DateTime("x").Required(), []ruleTest{{`""`, "format"}, {`null`, "required"}})
	same(t, "schema", property(t, DateTime("at")), `{"type":"string","title":"At","format":"date-time"}`)
	same(t, "message", message(t, DateTime("at"), `"soon"`), `At must be a date and time with its zone, such as 2026-07-28T14:30:00Z; you entered "soon".`)
}

func TestDateTimeValues(t *testing.T) {
	x := DateTime("x")
	for in, want := range map[string]string{
		"2026-07-28T14:30:00.5+02:00":         "2026-07-28T14:30:00.5+02:00", // the zone stays
		"2026-07-28T14:30:00Z":                "2026-07-28T14:30:00Z",
		"2026-07-28T14:30:00-00:00":           "2026-07-28T14:30:00Z",
		"1998-12-31T23:59:60Z":                "1999-01-01T00:00:00Z", // Go has no leap seconds
		"2026-07-28t14:30:00.1234567890123z":  "2026-07-28T14:30:00.123456789Z",
		"0000-01-01T00:00:00-01:00":           "0000-01-01T00:00:00-01:00",
		"2026-03-29T02:30:00+01:00":           "2026-03-29T02:30:00+01:00",
		"2026-07-28T14:30:00.000000001-11:30": "2026-07-28T14:30:00.000000001-11:30",
	} {
		got := x.In(decode(t, New(x), `{"x":"`+in+`"}`))
		same(t, in, got.Format(time.RFC3339Nano), want)
	}
	type stamp string
	type S struct {
		At  time.Time
		Due stamp
		Day time.Time
	}
	f := Build(func(s *S) []Field {
		return []Field{
			DateTimeOf(&s.At).Optional().Default(time.Date(1800, 1, 1, 0, 0, 0, 0, time.FixedZone("LMT", 5*60+17))),
			DateTimeOf(&s.Due).Optional().Default("2026-07-28t14:30:00Z"),
			DateOf(&s.Day).Optional(),
		}
	})
	s := decode(t, f, `{"day":"ignored","Day":"2026-07-28"}`)
	if s.Due != "2026-07-28t14:30:00Z" || !s.At.Equal(time.Date(1799, 12, 31, 23, 54, 43, 0, time.UTC)) || s.Day.Hour() != 0 {
		t.Errorf("%+v", s)
	}
	b, err := f.Encode(s)
	same(t, "Encode", string(b), `{"At":"1799-12-31T23:54:43Z","Due":"2026-07-28t14:30:00Z","Day":"2026-07-28"}`)
	if err != nil {
		t.Error(err)
	}
}
