#!/bin/sh
# Runs a command on a SLURM cluster of this machine alone: starts a controller and a node
# on the loopback interface, runs the command, and stops what it started.
#
#   tests/cluster/loopback.sh sinfo
#
# Needs Debian's packages slurm-wlm and munge, and root for a private view of /etc/slurm:
# srun reads its configuration there and nowhere else. Nothing outside a new temporary
# folder is written. Exit status 77 if something that it needs is not there.
set -eu

if [ "${LOOPBACK_INSIDE:-}" != yes ]; then
    for command in munged slurmctld slurmd sbatch unshare; do
        PATH="$PATH:/usr/sbin:/sbin" command -v "$command" >/dev/null || {
            echo "no $command: install Debian's packages slurm-wlm and munge" >&2
            exit 77
        }
    done
    [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null || {
        echo "no private mounts: run this as root" >&2
        exit 77
    }
    LOOPBACK_INSIDE=yes exec unshare --mount "$0" "$@"
fi

PATH="$PATH:/usr/sbin:/sbin"
unset SLURM_CONF
node=$(hostname -s)
folder=$(mktemp -d)
chmod 755 "$folder"
mkdir "$folder/etc" "$folder/state" "$folder/spool"
started=

stop() {
    status=$?
    trap - EXIT INT TERM
    scancel --quiet --full --state=RUNNING --user=root 2>/dev/null || true
    for id in $started; do kill "$id" 2>/dev/null || true; done
    wait
    [ "$status" = 0 ] || tail -n 5 "$folder"/*.log >&2
    rm -rf "$folder"
    exit "$status"
}
trap stop EXIT
trap 'exit 143' INT TERM

cat >"$folder/etc/slurm.conf" <<CONF
ClusterName=loopback
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=${LOOPBACK_PORT:-16817}
SlurmdPort=$((${LOOPBACK_PORT:-16817} + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
MinJobAge=300
KillWait=5
JobRequeue=1
SchedulerParameters=sched_interval=1,bf_interval=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(awk '/MemTotal/ {print int($2 / 1126)}' /proc/meminfo) State=UNKNOWN
PartitionName=main Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
mount --bind "$folder/etc" /etc/slurm

dd if=/dev/urandom of="$folder/munge.key" bs=1024 count=1 2>/dev/null
chmod 400 "$folder/munge.key"
munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munge.pid" --log-file="$folder/munge.log" \
    --seed-file="$folder/munge.seed" 2>>"$folder/munge.log" &
started="$! $started"
while [ ! -S "$folder/munge.socket" ]; do sleep 0.1; done
slurmctld -D -c 2>/dev/null &
started="$! $started"
slurmd -D -N "$node" 2>/dev/null &
started="$! $started"

end=$(($(date +%s) + 60))
until timeout 5 sinfo --noheader --format=%t 2>/dev/null | grep -q idle; do
    [ "$(date +%s)" -lt "$end" ] || { echo "the node did not come up in a minute" >&2; exit 1; }
    sleep 0.5
done
"$@"
