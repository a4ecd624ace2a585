package html

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elicit-go/elicit/form"
)

// Options configures [Fields]. A nil *Options and the zero value work: a form with its defaults filled in.
type Options struct {
	// Values are what stands in the fields, raw JSON by name. A field that is not in it is empty. Nil is each field's default.
	Values map[string]json.RawMessage
	// Problems are shown with their fields, by their Message, and summed up above them. What belongs to no field is in the
	// summary alone.
	Problems []form.Problem
	// Zone is what a date with time that has no value yet is offered in; nil is UTC.
	Zone *time.Location
	// Focus puts the cursor into the first field with a problem, else into the first field.
	Focus bool
}

// Style is a style sheet for what [Fields] writes, and for a plain page around it: main, header, blockquote, .actions. It
// names no other resource, so that a Content-Security-Policy can allow it by its hash and nothing else.
//
//go:embed style.css
var Style string

//go:embed fields.gohtml
var source string

var templates = template.Must(template.New("fields").Parse(source))

// A control is a field as the template sees it.
type control struct {
	form.Property
	ID, Key, Kind, Value, Hint, Placeholder, Error, Autocomplete string

	Several, Focus bool // Several: lines
	MinLen, MaxLen string
	Choices        []choice
	Zone, zone     string
	Zones          []choice
	DescribedBy    string
}

type choice struct {
	ID, Value, Title string
	Chosen           bool
}

// Names of controls are these and the number of the field: a field's own name may be anything.
const (
	prefixValue = "value" // the field's value
	prefixZone  = "zone"  // the UTC offset of a date with time
)

// Fields writes the fields of a form, to be put into a <form method="post"> of the page's own. It fails on nothing that a
// form can hold; an error is a mistake of this package.
func Fields(fields iter.Seq2[string, form.Property], opts *Options) (template.HTML, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	page := struct {
		Controls []*control
		Whole    []string // problems of no field
		Wrong    []*control
	}{}
	for name, p := range fields {
		number := strconv.Itoa(len(page.Controls))
		c := &control{Property: p, ID: "f" + number, Key: prefixValue + number, zone: prefixZone + number}
		value := p.Default
		if o.Values != nil {
			value = o.Values[name]
		}
		c.fill(value, o)
		for _, problem := range o.Problems {
			if problem.Field == name && c.Error == "" {
				c.Error = problem.Message
				page.Wrong = append(page.Wrong, c)
			}
		}
		c.describe()
		page.Controls = append(page.Controls, c)
	}
	for _, problem := range o.Problems {
		if !slices.ContainsFunc(page.Controls, func(c *control) bool { return c.Name == problem.Field }) {
			page.Whole = append(page.Whole, problem.Message)
		}
	}
	if o.Focus && len(page.Controls) > 0 {
		first := page.Controls[0]
		if len(page.Wrong) > 0 {
			first = page.Wrong[0]
		}
		first.Focus = true
	}
	var b bytes.Buffer
	if err := templates.Execute(&b, page); err != nil {
		return "", fmt.Errorf("form/html: %w", err)
	}
	return template.HTML(b.String()), nil
}

// fill chooses the control for the field and puts value into it.
func (c *control) fill(value json.RawMessage, o Options) {
	text := string(value)
	if json.Unmarshal(value, &text) != nil && string(value) == "null" {
		text = ""
	}
	c.Autocomplete = "off"
	switch {
	case c.Type == "boolean":
		c.Kind = "radios"
		c.Choices = []choice{{Value: "true", Title: "Yes", Chosen: string(value) == "true"}, {Value: "false", Title: "No", Chosen: string(value) == "false"}}
		if !c.Required {
			c.Choices = append(c.Choices, choice{Title: "No answer", Chosen: string(value) != "true" && string(value) != "false"})
		}
	case c.Type == "array":
		c.Kind = "boxes"
		var chosen []string
		_ = json.Unmarshal(value, &chosen)
		for i, opt := range c.Options {
			c.Choices = append(c.Choices, choice{Value: strconv.Itoa(i), Title: opt.Title, Chosen: slices.Contains(chosen, opt.Value)})
		}
		c.Hint = amount(c.Min, c.Max, "", "Choose ")
	case c.Options != nil:
		c.Kind = "list"
		none := choice{Title: "Choose…"}
		if !c.Required {
			none.Title = "(leave out)"
		}
		c.Choices = []choice{none}
		for i, opt := range c.Options {
			c.Choices = append(c.Choices, choice{Value: strconv.Itoa(i), Title: opt.Title, Chosen: value != nil && opt.Value == text})
		}
	case c.Hidden: // never filled in
		c.Kind, c.Autocomplete = "password", "new-password"
		c.length()
		c.Several = c.Property.Lines
	default:
		c.input(text, o)
	}
	for i := range c.Choices {
		c.Choices[i].ID = c.ID + "-" + strconv.Itoa(i)
	}
}

// input is a control to type into.
func (c *control) input(text string, o Options) {
	c.Kind, c.Value = "text", text
	switch {
	case c.Type == "integer":
		c.Kind = "number"
		c.Hint = "A whole number" + amount(c.Min, c.Max, "", ", ") + "."
	case c.Type == "number":
		c.Kind = "number"
		c.Hint = "A number" + amount(c.Min, c.Max, "", ", ") + "."
	case c.Format == "email":
		c.Kind = "email"
		c.Hint = "An e-mail address, such as name@example.com."
	case c.Format == "uri":
		c.Kind = "url"
		c.Hint = "A complete address, such as https://example.com/."
	case c.Format == "date":
		c.Kind = "date"
	case c.Format == "date-time":
		c.dateTime(text, o.Zone)
	default:
		const long = 200
		c.length()
		most, err := strconv.Atoi(c.MaxLen)
		c.Several = strings.Contains(text, "\n") || err == nil && most > long
	}
	// A control of the browser drops a value that it does not understand; a text shows it, so that it can be put right.
	if (c.Kind == "number" && json.Unmarshal([]byte(text), new(json.Number)) != nil ||
		c.Kind == "date" && !isLayout(time.DateOnly, text)) && text != "" {
		c.Kind = "text"
		if c.Format == "date" {
			c.Hint = "A date, such as 2026-07-28."
		}
	}
}

// length is what there is to know about the length of a text.
func (c *control) length() {
	c.MinLen, c.MaxLen = c.Min.String(), c.Max.String()
	if c.Hint = amount(c.Min, c.Max, " characters", ""); c.Hint != "" {
		c.Hint = strings.ToUpper(c.Hint[:1]) + c.Hint[1:] + "."
	}
}

const local = "2006-01-02T15:04:05"

// dateTime splits a moment into what the browser's control takes and the offset, which it does not have. What does not fit,
// such as parts of a second, is typed as text.
func (c *control) dateTime(text string, zone *time.Location) {
	c.Kind = "datetime-local"
	if zone == nil {
		zone = time.UTC
	}
	offset := time.Now().In(zone).Format("-07:00")
	if text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil || at.Nanosecond() != 0 || at.Year() < 1 {
			c.Kind, c.Hint = "text", "A date and time with its zone, such as 2026-07-28T14:30:00Z."
			return
		}
		c.Value, offset = at.Format(local), at.Format("-07:00")
	}
	offsets := []string{"-12:00", "-11:00", "-10:00", "-09:30", "-09:00", "-08:00", "-07:00", "-06:00", "-05:00", "-04:00", "-03:30", "-03:00", "-02:00",
		"-01:00", "+00:00", "+01:00", "+02:00", "+03:00", "+03:30", "+04:00", "+04:30", "+05:00", "+05:30", "+05:45", "+06:00", "+06:30", "+07:00",
		"+08:00", "+08:45", "+09:00", "+09:30", "+10:00", "+10:30", "+11:00", "+12:00", "+12:45", "+13:00", "+14:00"}
	if !slices.Contains(offsets, offset) {
		offsets = append(offsets, offset)
	}
	c.Zone = c.zone
	for _, o := range offsets {
		title := "UTC" + strings.Replace(o, "-", "−", 1)
		if o == "+00:00" {
			title = "UTC"
		}
		c.Zones = append(c.Zones, choice{Value: o, Title: title, Chosen: o == offset})
	}
}

func isLayout(layout, text string) bool {
	_, err := time.Parse(layout, text)
	return err == nil
}

// describe ties what is said about the control to it.
func (c *control) describe() {
	var ids []string
	if c.Description != "" {
		ids = append(ids, c.ID+"-about")
	}
	if c.Hint != "" {
		ids = append(ids, c.ID+"-hint")
	}
	if c.Error != "" {
		ids = append(ids, c.ID+"-error")
	}
	c.DescribedBy = strings.Join(ids, " ")
}

// amount is "from 1 to 10 characters", "at least 2" and so on, with before before it; "" without limits.
func amount(lo, hi json.Number, unit, before string) string {
	least := lo != "" && lo != "0"
	switch {
	case least && lo == hi:
		return before + "exactly " + lo.String() + unit
	case lo != "" && hi != "" && (unit == "" || least):
		return before + "from " + lo.String() + " to " + hi.String() + unit
	case hi != "":
		return before + "at most " + hi.String() + unit
	case lo != "" && (unit == "" || least):
		return before + "at least " + lo.String() + unit
	}
	return ""
}
