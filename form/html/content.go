package html

import (
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/form"
)

// Content is what a page that shows [Fields] has posted, as the content of an answer: raw JSON for [form.Form.Validate] and
// [form.Form.Decode]. A field that is empty, or in which nothing is chosen, is left out; several choices of which none is
// ticked are the empty list where an answer is required. Whatever else was posted is ignored.
func Content(fields iter.Seq2[string, form.Property], posted url.Values) json.RawMessage {
	content := []byte{'{'}
	number := -1
	for name, p := range fields {
		number++
		value := read(p, posted[prefixValue+strconv.Itoa(number)], posted.Get(prefixZone+strconv.Itoa(number)))
		if value == nil {
			continue
		}
		if len(content) > 1 {
			content = append(content, ',')
		}
		quoted, _ := json.Marshal(name)
		content = append(append(append(content, quoted...), ':'), value...)
	}
	return append(content, '}')
}

// read is the value of one field; nil where there is none.
func read(p form.Property, texts []string, zone string) json.RawMessage {
	if p.Options != nil {
		var values []string
		for _, text := range texts {
			if i, err := strconv.Atoi(text); err == nil && 0 <= i && i < len(p.Options) {
				values = append(values, p.Options[i].Value)
			} else if text != "" {
				values = append(values, text) // No page of ours sends that: Validate says so.
			}
		}
		switch {
		case p.Type == "array" && (len(values) > 0 || p.Required):
			return marshal(append([]string{}, values...))
		case len(values) > 0:
			return marshal(values[0])
		}
		return nil
	}
	if len(texts) == 0 || texts[0] == "" {
		return nil
	}
	text := strings.ReplaceAll(texts[0], "\r\n", "\n") // How browsers post the lines of a text.
	if zone != "" {
		text = withZone(text, zone)
	}
	return p.FromText(text)
}

// withZone is what the browser's control for date and time gives, with the seconds that it leaves out when they are zero, and
// the offset.
func withZone(text, zone string) string {
	if isLayout("2006-01-02T15:04", text) {
		text += ":00"
	}
	if !isLayout(local, text) {
		return text
	}
	if zone == "+00:00" {
		zone = "Z"
	}
	return text + zone
}

func marshal(v any) json.RawMessage {
	data, _ := json.Marshal(v) // Strings and lists of them.
	return data
}

// Values are the members of an answer's content, for [Options].Values. What is no object has none.
func Values(content []byte) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	_ = json.Unmarshal(content, &values)
	if values == nil {
		values = map[string]json.RawMessage{}
	}
	return values
}

// Text is a value for reading: options by their titles, truth values as Yes and No, numbers by their literal text; "" where
// there is none.
func Text(p form.Property, value json.RawMessage) string {
	var one string
	var several []string
	title := func(v string) string {
		for _, o := range p.Options {
			if o.Value == v {
				return o.Title
			}
		}
		return v
	}
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case string(value) == "true":
		return "Yes"
	case string(value) == "false":
		return "No"
	case json.Unmarshal(value, &one) == nil:
		return title(one)
	case json.Unmarshal(value, &several) == nil:
		if len(several) == 0 {
			return "none"
		}
		for i, v := range several {
			several[i] = title(v)
		}
		return strings.Join(several, ", ")
	}
	return string(value)
}
