package threeways

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/internal/e2e/harness"
)

const schema = `{"type":"object","properties":{` +
	`"trackingNumber":{"type":"string","title":"Tracking Number","description":"Printed on the label.","minLength":8},` +
	`"parcels":{"type":"integer","title":"Number of parcels","minimum":1,"maximum":10,"default":1},` +
	`"carrier":{"type":"string","title":"Carrier","oneOf":[{"const":"ups","title":"UPS"},{"const":"dhl","title":"DHL"}]},` +
	`"note":{"type":"string","title":"Note"}},"required":["trackingNumber","carrier"]}`

// One form, one schema, one answer.
func TestTheyAreTheSame(t *testing.T) {
	for _, err := range []error{byBuilder.Err(), byStruct.Err(), byPointer.Err()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for way, got := range map[string]string{"builder": string(byBuilder.Schema()), "struct": string(byStruct.Schema()), "pointer": string(byPointer.Schema())} {
		if got != schema {
			t.Errorf("%s: %s", way, got)
		}
	}
	for content, want := range map[string]string{
		`{"trackingNumber":"1Z999AA1","carrier":"dhl"}`:                                 "1 parcels, 1Z999AA1 by dhl",
		`{"trackingNumber":"1Z999AA1","parcels":3,"carrier":"ups","note":"ring twice"}`: "3 parcels, 1Z999AA1 by ups: ring twice",
	} {
		b, p1 := byBuilder.Decode([]byte(content))
		s, p2 := byStruct.Decode([]byte(content))
		p, p3 := byPointer.Decode([]byte(content))
		if p1 != nil || p2 != nil || p3 != nil {
			t.Fatal(p1, p2, p3)
		}
		for _, got := range []string{shipByBuilder(b), shipByStruct(s), shipByPointer(p)} {
			if got != want {
				t.Errorf("%s: got %q, want %q", content, got, want)
			}
		}
	}
}

// docs/forms.md shows these files.
func TestTheyAreShown(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "forms.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"builder.go", "structs.go", "pointers.go"} {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(src), ")\n\n") // after the imports
		if !strings.Contains(string(page), "\n"+code+"```\n") {
			t.Errorf("docs/forms.md does not show %s as it is", name)
		}
	}
}
