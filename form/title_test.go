package form

import "testing"

func TestTitle(t *testing.T) {
	names := map[string]string{
		// camel case
		"trackingNumber": "Tracking Number", "TrackingNumber": "Tracking Number", "orderID": "Order ID", "orderId": "Order ID", "userIDs": "User IDs",
		"apiURL": "API URL", "HTTPServer": "HTTP Server", "parseHTML": "Parse HTML", "newHTTPSProxy": "New HTTPS Proxy", "vatNumber": "VAT Number",
		"VATID": "Vatid", "dateOfBirth": "Date of Birth", "signOnDelivery": "Sign on Delivery", "shipVia": "Ship Via", "orderBy": "Order By",
		"isXYZ": "Is XYZ", "aB": "A B", "iPhone": "I Phone",
		// snake, kebab, dots, spaces
		"api_url": "API URL", "tracking_number": "Tracking Number", "kebab-case": "Kebab Case", "dotted.name": "Dotted Name", "with space": "With Space",
		"__private_": "Private", "TRACKING_NUMBER": "Tracking Number", "SKU_ID": "SKU ID", "mixed_camelCase-name": "Mixed Camel Case Name", "what's_new": "What's New",
		// digits
		"address2": "Address 2", "line_1": "Line 1", "sha256Sum": "SHA256 Sum", "ipv4Address": "IPv4 Address", "IPv6": "IPv6", "myIPv4Address": "My IPv4 Address", "OAuthClient": "OAuth Client", "OAuth2Token": "OAuth2 Token", "useGitHubApp": "Use GitHub App", "GitHub": "GitHub", "oauth2Client": "OAuth2 Client",
		"md5": "MD5", "x2": "X2", "p2p": "P2P", "b2bPartner": "B2B Partner", "2ndLine": "2nd Line", "route66": "Route 66", "top10Items": "Top 10 Items", "utf8": "UTF8", "2024": "2024",
		// abbreviations
		"id": "ID", "ids": "IDs", "url": "URL", "urls": "URLs", "uuid": "UUID", "sku": "SKU", "SKU": "SKU", "ip": "IP", "iban": "IBAN", "homeURLs": "Home URLs", "github": "GitHub",
		"wifi": "Wi-Fi", "iosVersion": "iOS Version",
		// words that only look like it
		"ideas": "Ideas", "zipCode": "Zip Code", "pin": "Pin", "identity": "Identity", "it": "It", "valid": "Valid", "status": "Status", "address": "Address", "apis": "APIs", "tips": "Tips",
		// short, and other scripts
		"a": "A", "X": "X", "é": "É", "größe": "Größe", "straßenName": "Straßen Name", "naïveName": "Naïve Name", "ñandú": "Ñandú",
		"название": "название", "имя_клиента": "имя_клиента", "番号": "番号", "orderНомер": "orderНомер", "المبلغ": "المبلغ",
		"_": "_", "-": "-", "": "", "🙂": "🙂", "ABCD": "ABCD", "ABCDE": "Abcde",
	}
	if len(names) < 60 {
		t.Errorf("%d names", len(names))
	}
	for name, want := range names {
		if got := titleOf(name); got != want {
			t.Errorf("titleOf(%q) = %q, want %q", name, got, want)
		}
	}
}
