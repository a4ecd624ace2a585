package form

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// shownTitle is the title of a field to which nobody gave one, fit to be shown.
func shownTitle(name string) string {
	if title := clean(titleOf(clean(name))); title != "" {
		return title
	}
	return "(a field without a name)"
}

// titleOf derives a title from a field's name: trackingNumber and tracking_number are "Tracking Number", orderID is
// "Order ID", api_url is "API URL". A name with letters of a script other than Latin stays as it is.
func titleOf(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			return name
		}
	}
	words := wordsOf(name)
	for i, w := range words {
		words[i] = titleWord(w, i == 0 || i == len(words)-1)
	}
	if len(words) == 0 {
		return name
	}
	return strings.Join(words, " ")
}

// wordsOf splits a name in camel case, snake case, kebab case or with dots into words as they are written; one that shouts
// throughout is taken as lower case, unless it is an abbreviation by itself.
func wordsOf(name string) (words []string) {
	parts := strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\''
	})
	loud := strings.ToUpper(name) == name && (len(parts) > 1 || utf8.RuneCountInString(name) > 4)
	for _, part := range parts {
		if loud {
			part = strings.ToLower(part)
		}
		words = append(words, splitCamel(part)...)
	}
	return words
}

// splitCamel splits a word in camel case.
func splitCamel(part string) (words []string) {
	runes := []rune(part)
	start := 0
	cut := func(i int) {
		if i > start {
			words = append(words, string(runes[start:i]))
			start = i
		}
	}
	for i := 0; i < len(runes); i++ {
		if i == start {
			if n := prefixOfMixed(string(runes[i:])); n > 0 {
				cut(i + n)
				i += n - 1
			}
			continue
		}
		before, r := runes[i-1], runes[i]
		switch {
		case unicode.IsUpper(r) && !unicode.IsUpper(before):
			cut(i) // tracking|Number, sha256|Sum
			i--    // for what begins here
		case unicode.IsLower(r) && unicode.IsUpper(before) && i-1 > start:
			// HTTP|Server, but IDs
			plural := r == 's' && (i+1 == len(runes) || !unicode.IsLower(runes[i+1]))
			if !plural {
				cut(i - 1)
			}
		case unicode.IsDigit(r) && !unicode.IsDigit(before):
			// address|2, but sha256, ipv4 and x2
			word := string(runes[start:i])
			if _, short := abbreviation(word); !short && i-start > 1 {
				cut(i)
			}
		}
	}
	cut(len(runes))
	return words
}

// prefixOfMixed is the length of the abbreviation that s begins with, written in its own case, and the digits after it: OAuth2 of
// OAuth2Client.
func prefixOfMixed(s string) int {
	for _, m := range mixed {
		if rest, ok := strings.CutPrefix(s, m); ok {
			if r, _ := utf8.DecodeRuneInString(rest); !unicode.IsLower(r) {
				return len(s) - len(strings.TrimLeft(rest, "0123456789")) // all ASCII, so bytes are runes
			}
		}
	}
	return 0
}

// titleWord writes a word as in a title; outer tells that it is the first or the last one.
func titleWord(w string, outer bool) string {
	stem := strings.TrimRightFunc(w, unicode.IsDigit)
	if stem != "" {
		if short, ok := abbreviation(stem); ok {
			return short + w[len(stem):]
		}
	}
	if !outer && small[strings.ToLower(w)] {
		return strings.ToLower(w)
	}
	r, n := utf8.DecodeRuneInString(w)
	return string(unicode.ToTitle(r)) + w[n:]
}

// abbreviation is how a word is written that is one, also in the plural: id is ID, urls is URLs.
func abbreviation(w string) (string, bool) {
	lower := strings.ToLower(w)
	if s, ok := mixed[lower]; ok {
		return s, true
	}
	if shouted[lower] {
		return strings.ToUpper(w), true
	}
	if stem, ok := strings.CutSuffix(lower, "s"); ok && shouted[stem] {
		return strings.ToUpper(stem) + "s", true
	}
	return "", false
}

// set makes a set of words.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var (
	// small words are lower case inside a title.
	small = set("a an and as at but by for from in into of on or per the to via with")

	// shouted are abbreviations in capitals. None is also an English word: a pin or a zip code keeps its case.
	shouted = set(`ai acl api asin aws bic ceo cli cpu crm css csv dns dob ean eori erp eta eu eur faq ftp gbp gcp gcs gmt gpg gps
		gpu gst gtin guid hs html http https iam iban id imap imei ip isbn iso jpeg jpg json jwt kyc lan llm mcp md mfa mime
		mrn nfc npi oidc os otp p2p b2b b2c pdf pgp png poc qa qr rfc rfid rpc rsa sdk sha sim sku sla smtp sms sql ssd ssh
		ssl ssn sso svg tcp tls toml totp ttl tv udp ui uid uk uri url urn usa usb usd utc utf uuid ux vat vin vip vm vpc
		vpn wifi xml xsd yaml`)

	// mixed are abbreviations that have a case of their own.
	mixed = map[string]string{
		"github": "GitHub", "gitlab": "GitLab", "graphql": "GraphQL", "ios": "iOS", "ipv": "IPv", "linkedin": "LinkedIn",
		"macos": "macOS", "mysql": "MySQL", "oauth": "OAuth", "paypal": "PayPal", "postgresql": "PostgreSQL",
		"wifi": "Wi-Fi", "youtube": "YouTube",
	}
)
