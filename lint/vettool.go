package lint

import (
	"encoding/json"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"
)

// IsVetTool reports whether a program was called as go vet calls its vettool, with such arguments.
func IsVetTool(args []string) bool {
	return len(args) > 0 && (args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(args[len(args)-1], ".cfg"))
}

// Main is the main function of a vettool, which go vet runs for each package. It does not return.
//
// A package that has to do with neither elicit nor an MCP library is not even read, and neither is one on which others only
// depend, if there is nothing to know of it.
func Main() {
	if name := os.Args[len(os.Args)-1]; strings.HasSuffix(name, ".cfg") {
		if vetx, skip := irrelevant(name); skip {
			if err := os.WriteFile(vetx, nil, 0o666); err == nil {
				os.Exit(0)
			}
		}
	}
	unitchecker.Main(Analyzers()...)
}

// irrelevant reports whether there is nothing to find in the package that a file describes, and where to write that.
func irrelevant(name string) (vetx string, skip bool) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", false
	}
	var cfg unitchecker.Config
	if json.Unmarshal(b, &cfg) != nil || cfg.VetxOutput == "" {
		return "", false
	}
	paths := []string{elicitPath, formPath}
	if !cfg.VetxOnly {
		paths = append(paths, sdkPath, mcpgoPath)
	}
	for _, path := range paths {
		if cfg.ImportPath == path && path != elicitPath && path != formPath {
			return "", false
		}
		for _, imported := range cfg.ImportMap {
			if imported == path {
				return "", false
			}
		}
	}
	for _, facts := range cfg.PackageVetx {
		if info, err := os.Stat(facts); err != nil || info.Size() > 0 {
			return "", false
		}
	}
	return cfg.VetxOutput, true
}
