#!/usr/bin/env bash
# A dump into a dataset on Slurm: an array job of parts, and a merge that waits for it.
#
#   PARTS=30 bash slurm.sh /nfs/2026-06.pgn.zst /nfs/june.dataset
#
# Needs `ingest` in PATH on all nodes, and a folder that all of them share. A node that
# fails has its parts queued again, and `ingest build` goes on where it was.
set -euo pipefail

dump=$1 out=$2
parts=${PARTS:-30}
work=$out.work
mkdir -p "$work"
export dump out parts work

# Exit code 4 is a damaged dump: what was good in it is kept.
array=$(sbatch --parsable --export=ALL --job-name=kibitz-parts --array="1-$parts" \
    --requeue --cpus-per-task=1 --output="$work/%a.log" <<'JOB'
#!/usr/bin/env bash
export RAYON_NUM_THREADS=$SLURM_CPUS_PER_TASK
ingest build "$dump" --part "$SLURM_ARRAY_TASK_ID/$parts" \
    --out "$work/$SLURM_ARRAY_TASK_ID.dataset" || [ $? = 4 ]
JOB
)
sbatch --parsable --export=ALL --job-name=kibitz-merge --dependency="afterok:$array" \
    --requeue --cpus-per-task=1 --output="$work/merge.log" <<'JOB'
#!/usr/bin/env bash
set -e
export RAYON_NUM_THREADS=$SLURM_CPUS_PER_TASK
# The note goes last: a merge that runs again never sees half of the parts.
if compgen -G "$work/*.dataset" >/dev/null && [ ! -e "$work/merged" ]; then
    ingest merge "$work"/*.dataset --out "$out"
    touch "$work/merged"
fi
rm -rf "$work"/*.dataset
rm -r "$work"
JOB
