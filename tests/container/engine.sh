#!/bin/sh
# A Docker engine and the competition's image for the container tests, made without any image registry.
#
#   engine.sh up      use the running engine, else start one; prints its address (DOCKER_HOST)
#   engine.sh base    a bare Python image, like the one in competition.yaml; prints its name
#   engine.sh image   build docker/Dockerfile on it with the wheels in the folder WHEELS; prints the image's name
#   engine.sh down    stop the engine that `up` started
#
# Exit code 77: this machine cannot do it, and the last line says why. Everything else goes to standard error.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
state=${ENGINE_STATE:-/var/tmp/first-impressions-engine}
official=$(sed -n 's/^docker_image: *//p' "$root/competition.yaml")
base=first-impressions-base:bookworm
own_bridge=first-impress
image=first-impressions-test:latest

cannot() {
    echo "$*" >&2
    exit 77
}

answers() {
    docker info >/dev/null 2>&1
}

up() {
    command -v docker >/dev/null || cannot "No docker command. Debian: apt-get install docker.io"
    if answers; then
        echo "${DOCKER_HOST:-}"
        return
    fi
    DOCKER_HOST=unix://$state/docker.sock
    export DOCKER_HOST
    if ! answers; then
        [ "$(id -u)" = 0 ] || cannot "No Docker engine answers, and only root can start one."
        command -v dockerd >/dev/null || cannot "No Docker engine answers, and there is no dockerd. Debian: apt-get install docker.io"
        start overlay2 || start vfs || cannot "dockerd does not start: $(tail -n 1 "$state/log")"
    fi
    echo "$DOCKER_HOST"
}

start() {
    mkdir -p "$state"
    # A bridge of our own and no packet filter: containers see a network that leads nowhere, also where iptables does not work.
    bridge=none
    if ip link show "$own_bridge" >/dev/null 2>&1 || ip link add name "$own_bridge" type bridge; then
        ip addr replace 10.213.77.1/24 dev "$own_bridge" && ip link set "$own_bridge" up && bridge=$own_bridge
    fi 2>/dev/null
    setsid dockerd --host "$DOCKER_HOST" --data-root "$state/data" --exec-root "$state/exec" --pidfile "$state/pid" \
        --storage-driver "$1" --bridge "$bridge" --iptables=false --ip6tables=false >"$state/log" 2>&1 </dev/null &
    engine=$!
    for _ in $(seq 30); do
        sleep 1
        answers && return 0
        kill -0 "$engine" 2>/dev/null || return 1
    done
    kill "$engine"
    return 1
}

down() {
    [ -f "$state/pid" ] || return 0
    engine=$(cat "$state/pid")
    kill "$engine" 2>/dev/null || return 0
    for _ in $(seq 20); do
        kill -0 "$engine" 2>/dev/null || break
        sleep 0.5
    done
    ip link del "$own_bridge" 2>/dev/null || true
}

base() {
    docker image inspect "$official" >/dev/null 2>&1 && base=$official
    docker image inspect "$base" >/dev/null 2>&1 || make_base >&2
    echo "$base"
}

image() {
    base=$(base)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    mkdir "$scratch/ingestion_program" "$scratch/docker"
    cp "$root/ingestion_program/requirements.lock" "$scratch/ingestion_program/"
    cp "$root/docker/Dockerfile" "$scratch/docker/"
    cp -RL "$WHEELS" "$scratch/docker/wheels"
    docker build --quiet --network none --build-arg BASE="$base" --build-arg PIP_ARGS=--no-index \
        -f "$scratch/docker/Dockerfile" -t "$image" "$scratch" >&2
    echo "$image"
}

make_base() {
    # Debian 12 (bookworm) has Python 3.11 and pip, as the official image has.
    [ "$(id -u)" = 0 ] || cannot "There is no image $official, and only root can make a base with debootstrap."
    command -v debootstrap >/dev/null || cannot "There is no debootstrap. Debian: apt-get install debootstrap"
    echo "Making a base image with debootstrap; this takes about two minutes."
    mkdir -p "$state"
    rootfs=$(mktemp -d "$state/rootfs.XXXXXX")
    debootstrap --variant=minbase --include=python3,python3-pip,ca-certificates bookworm "$rootfs" >"$state/debootstrap.log" ||
        { rm -rf "$rootfs"; cannot "debootstrap failed: $(tail -n 1 "$state/debootstrap.log")"; }
    # Like the official image: this Python is there for us, not for the distribution.
    rm -f "$rootfs"/usr/lib/python3*/EXTERNALLY-MANAGED
    rm -rf "$rootfs"/var/cache/apt/archives/*.deb "$rootfs"/var/lib/apt/lists/*
    tar -C "$rootfs" -c . | docker import - "$base"
    rm -rf "$rootfs"
}

"$1"
