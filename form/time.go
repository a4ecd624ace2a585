package form

import (
	"fmt"
	"reflect"
	"time"
)

// Moment is what a date or a date with time is kept in: a time.Time, a [Day] where it is a date, or a string type that keeps the
// text as it was typed.
type Moment interface{ ~string | time.Time | Day }

// TimeField is a date, or a date with time, kept in a Go type M.
type TimeField[M Moment] struct {
	c common
	r textRules
}

// Date is a field for a day of the calendar, for [New]: RFC 3339's full-date, as 2026-07-28. In Go it is the midnight, in UTC,
// that the day begins with, or a [Day].
func Date(name string) TimeField[time.Time] {
	return TimeField[time.Time]{common{name: name}, textRules{format: "date"}}
}

// DateOf is the [Date] field that fills a struct field, for [Build].
func DateOf[M Moment](field *M) TimeField[M] {
	return TimeField[M]{pointTo(field), textRules{format: "date"}}
}

// DateTime is a field for a moment, for [New]: RFC 3339's date-time, as 2026-07-28T14:30:00+02:00, the zone always with it.
// In Go it keeps the offset that was typed; a leap second is the second after it.
func DateTime(name string) TimeField[time.Time] {
	return TimeField[time.Time]{common{name: name}, textRules{format: "date-time"}}
}

// DateTimeOf is the [DateTime] field that fills a struct field, for [Build].
func DateTimeOf[M ~string | time.Time](field *M) TimeField[M] {
	return TimeField[M]{pointTo(field), textRules{format: "date-time"}}
}

// Title is what a person sees above the field. Without it, it is derived from the name: dueDate is "Due Date".
func (f TimeField[M]) Title(title string) TimeField[M] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f TimeField[M]) Titlef(format string, args ...any) TimeField[M] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f TimeField[M]) Description(words string) TimeField[M] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f TimeField[M]) Descriptionf(format string, args ...any) TimeField[M] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid, and one with "" in it.
func (f TimeField[M]) Required() TimeField[M] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise. "" is then as good as left out.
func (f TimeField[M]) Optional() TimeField[M] { f.c.presence = optional; return f }

// Default is what a client fills in beforehand, and the value of an optional field that is left out. None by default.
func (f TimeField[M]) Default(value M) TimeField[M] {
	f.c.def = momentText(value, f.r.format)
	return f
}

// In reads the field out of an answer: its value, or its default, or the zero of M.
func (f TimeField[M]) In(values Values) (m M) {
	s, ok := values.get(f.c.name).(string)
	if !ok {
		return m
	}
	switch p := any(&m).(type) {
	case *time.Time:
		*p = momentOf(s)
	case *Day:
		*p = dayOf(s)
	default:
		setString(&m, s)
	}
	return m
}

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f TimeField[M]) Set(values *Values, value M) {
	values.set(f.c.name, momentText(value, f.r.format))
}

func (f TimeField[M]) spec() spec { return spec{f.c, &f.r} }

var timeType = reflect.TypeFor[time.Time]()

// momentText is a Moment as it is sent.
func momentText(v any, format string) string {
	switch v := v.(type) {
	case time.Time:
		return timeText(v, format)
	case Day:
		return v.String()
	}
	return reflect.ValueOf(v).String()
}

// timeText is a time as it is sent.
func timeText(t time.Time, format string) string {
	if format == "date" {
		return t.Format(time.DateOnly)
	}
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC() // RFC 3339 has no seconds in offsets
	}
	return t.Format(time.RFC3339Nano)
}

// momentOf is the time of a valid date or date-time.
func momentOf(text string) time.Time {
	t, ok := parseDate([]byte(text))
	if !ok {
		var offset int
		if t, offset, _ = parseDateTime([]byte(text)); offset != 0 {
			t = t.In(time.FixedZone("", 60*offset))
		}
	}
	return t
}

// dayOf is the day of a valid date.
func dayOf(text string) Day {
	t, ok := parseDate([]byte(text))
	if !ok {
		return Day{}
	}
	return DayOf(t)
}

// parseDate reads RFC 3339's full-date.
func parseDate(s []byte) (time.Time, bool) {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	year, ok1 := number(s[:4])
	month, ok2 := number(s[5:7])
	day, ok3 := number(s[8:])
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
}

// parseDateTime reads RFC 3339's date-time: the moment in UTC, and the minutes that its zone is ahead. A 60th second is one
// only where UTC has its leap seconds, at 23:59.
func parseDateTime(s []byte) (t time.Time, offset int, ok bool) {
	const upToSeconds = len("2006-01-02T15:04:05")
	if len(s) <= upToSeconds || s[10]|0x20 != 't' || s[13] != ':' || s[16] != ':' {
		return t, 0, false
	}
	day, ok := parseDate(s[:10])
	hour, ok1 := number(s[11:13])
	minute, ok2 := number(s[14:16])
	second, ok3 := number(s[17:19])
	if !ok || !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 60 {
		return t, 0, false
	}
	rest, nanos := s[upToSeconds:], 0
	if rest[0] == '.' {
		digits, unit := 1, 100_000_000
		for ; digits < len(rest) && isDigit(rest[digits]); digits++ {
			nanos += int(rest[digits]-'0') * unit // the unit of a tenth digit is 0
			unit /= 10
		}
		if digits == 1 {
			return t, 0, false
		}
		rest = rest[digits:]
	}
	switch {
	case len(rest) == 1 && rest[0]|0x20 == 'z':
	case len(rest) == len("+02:00") && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':':
		h, ok1 := number(rest[1:3])
		m, ok2 := number(rest[4:])
		if !ok1 || !ok2 || h > 23 || m > 59 {
			return t, 0, false
		}
		if offset = h*60 + m; rest[0] == '-' {
			offset = -offset
		}
	default:
		return t, 0, false
	}
	const minutesPerDay = 24 * 60
	if second == 60 && (hour*60+minute-offset+2*minutesPerDay)%minutesPerDay != minutesPerDay-1 {
		return t, 0, false
	}
	t = time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, nanos, time.UTC)
	if t.Year() > 9999 {
		return t, 0, false // a leap second that ends the last year which can be written
	}
	return t.Add(-time.Duration(offset) * time.Minute), offset, true
}

// number reads a few decimal digits.
func number(digits []byte) (n int, ok bool) {
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
