package form

import (
	"fmt"
	"time"
)

// A Day is a day of the calendar, without time and zone: what a [Date] field asks for, where a time.Time would say more than is
// known. Its text is RFC 3339's full-date, as 2026-07-28. The zero Day is none.
type Day struct {
	Year  int // 0 to 9999
	Month time.Month
	Day   int // 1 to 31
}

// DayOf is the day of a moment, in the moment's own zone.
func DayOf(t time.Time) Day {
	year, month, day := t.Date()
	return Day{year, month, day}
}

// IsZero reports whether d is none.
func (d Day) IsZero() bool { return d == Day{} }

// In is the first moment of the day in a zone; the zero time for the zero Day.
func (d Day) In(zone *time.Location) time.Time {
	if d.IsZero() {
		return time.Time{}
	}
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, zone)
}

// String is the day as 2026-07-28, and "" for the zero Day.
func (d Day) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// MarshalText is String. It fails for a day that no calendar has.
func (d Day) MarshalText() ([]byte, error) {
	s := d.String()
	if _, ok := parseDate([]byte(s)); !ok && s != "" {
		return nil, fmt.Errorf("form: %s is not a day of the calendar", s)
	}
	return []byte(s), nil
}

// UnmarshalText reads a day as 2026-07-28. "" is the zero Day.
func (d *Day) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Day{}
		return nil
	}
	t, ok := parseDate(text)
	if !ok {
		return fmt.Errorf("form: %s is not a day, such as 2026-07-28", quote(string(text)))
	}
	*d = DayOf(t)
	return nil
}
