package lint

import "strings"

// A verb is a part of a format that takes an argument.
type verb struct {
	verb byte
	at   int // of the letter, in the format
	end  int
}

// verbsOf are the verbs of a format, each for an argument; false where they do not go one by one.
func verbsOf(format string) (list []verb, ok bool) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		start := i
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.", format[i]) >= 0; i++ {
		}
		switch {
		case i >= len(format), format[i] == '*', format[i] == '[':
			return nil, false
		case format[i] != '%':
			list = append(list, verb{format[i], i, start})
		}
	}
	return list, true
}
