#!/usr/bin/env bash
# Rates the engine with each net of this folder and with material alone: a round robin at equal
# nodes. Writes models/strengths.json, which the page shows. Run it again when a net has changed,
# or to continue an interrupted run.
set -euo pipefail
NODES=5000 GAMES=400 BOOK=engine/books/openings.epd
. "$(dirname "$0")/../tests/setup.sh"
cargo build --release --locked -p arena

# Ratings are relative to the first.
nets=(models/default.safetensors)
for net in models/*.safetensors; do
    [ "$net" = "${nets[0]}" ] || nets+=("$net")
done
commit=$(git rev-parse --short HEAD)
folder=${CARGO_TARGET_DIR:-target}/strengths
mkdir -p "$folder"
run=$folder/$commit-$(sha256sum "${nets[@]}" | sha256sum | head -c 7)
"${CARGO_TARGET_DIR:-target}/release/arena" ladder "${nets[@]}" material --nodes "$NODES" \
    --games "$GAMES" --concurrency "$(nproc)" --book "$BOOK" --resign moves=4,score=700 \
    --draw moves=8,score=10,from=40 --pgn "$run.pgn" --resume --json >"$run.json"

python3 - "$run.json" "$NODES" "$GAMES" "$BOOK" "$commit" >models/strengths.part <<'END'
import hashlib, json, pathlib, sys

path, nodes, games, book, commit = sys.argv[1:]
rows = []
for row in json.load(open(path))["ratings"]:
    net = pathlib.Path(f"models/{row['name']}.safetensors")
    ends = row["elo_interval"]
    rows.append({
        "evaluator": net.name if net.exists() else row["name"],
        "sha256": hashlib.sha256(net.read_bytes()).hexdigest() if net.exists() else None,
        "elo": round(row["elo"]),
        "interval": ends and [None if end is None else round(end) for end in ends],
    })
json.dump({"nodes": int(nodes), "games": int(games), "book": book, "commit": commit, "strengths": rows}, sys.stdout, indent=2)
print()
END
mv models/strengths.part models/strengths.json
