#!/bin/bash
# Times elicit vet over the whole workspace beside plain go vet, with a warm build cache. A first run is one for which go vet
# has no results in the cache: an unused flag for go vet, and a binary of its own for elicit vet, see to that.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timed() { # name command…
	local name=$1 start ms
	shift
	start=$(date +%s%N)
	"$@" >"$dir/out" 2>&1 || { cat "$dir/out"; exit 1; }
	ms=$((($(date +%s%N) - start) / 1000000))
	printf '%-24s %3d.%02d s\n' "$name" $((ms / 1000)) $((ms % 1000 / 10)) | tee -a "$dir/times"
}

go build work
go vet work
echo "$(date -u +%F), $(nproc) cores, $(go env GOVERSION) $(go env GOOS)/$(go env GOARCH), $(go list work | wc -l) packages, $(go list -deps -test work | wc -l) with what they are built of and tested with"
for i in $(seq "$rounds"); do
	go build -ldflags "-X main.measured=$RANDOM$RANDOM" -o "$dir/elicit$i" ./cmd/elicit
	timed "go vet, first run" go vet -printf.funcs="measured$RANDOM$RANDOM" work
	timed "elicit vet, first run" "$dir/elicit$i" vet work
	timed "go vet, again" go vet work
	timed "elicit vet, again" "$dir/elicit$i" vet work
done
awk '{ n = $0; sub(/ +[0-9.]+ s$/, "", n); t = $(NF-1); if (!(n in best) || t < best[n]) best[n] = t }
	END { printf "best: first run %.2f s, %.2f times plain go vet; again %.2f s, %.2f times\n",
		best["elicit vet, first run"], best["elicit vet, first run"] / best["go vet, first run"],
		best["elicit vet, again"], best["elicit vet, again"] / best["go vet, again"] }' "$dir/times"
