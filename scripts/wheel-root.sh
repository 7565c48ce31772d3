#!/bin/sh
# The wheel in a bare root, as a new user meets it: a minimal Debian with Python and nothing else, entered as a
# container is. It is installed as docs/guide/install.md says, and used by root and by an ordinary user.
#
#   wheel-root.sh           the newest wheel of `make wheel`
#   wheel-root.sh WHEEL     this one
#
# Needs root, mmdebstrap and the machine's own package archives. The root is kept in $CACHE/wheel/root.tar.
set -eu
cd "$(dirname "$0")/.."
: "${CACHE:=${STAMPMILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stampmill}}"
wheel=${1:-$(ls -t "$CACHE"/wheel/dist/*.whl 2>/dev/null | head -n 1)}
[ -f "$wheel" ] || { echo "wheel-root.sh: no wheel: make wheel builds one" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "wheel-root.sh: only root may make a root" >&2; exit 2; }
for program in mmdebstrap unshare pivot_root; do
  command -v $program >/dev/null || { echo "wheel-root.sh: no $program: apt-get install mmdebstrap util-linux" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

bare=$CACHE/wheel/root.tar
if [ ! -e "$bare" ]; then
  # The archives of this machine, and how it fetches from them.
  apt-config dump | grep -E '^Acquire' >"$work/apt.conf" || true
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null >"$work/one.list" || true
  set -- "$work/one.list"
  for file in /etc/apt/sources.list.d/*.sources; do [ -e "$file" ] && set -- "$@" "$file"; done
  mmdebstrap --quiet --variant=minbase --aptopt="$work/apt.conf" --include=python3-venv,ca-certificates \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$bare.partial.tar" "$@"
  mv "$bare.partial.tar" "$bare"
fi
root=$work/root
mkdir "$root"
tar -xf "$bare" -C "$root"
cp /etc/resolv.conf "$root/etc"
cp "$wheel" "$root/root"
echo 'kernel void saxpy(global float *y, global const float *x, float a) { int i = get_global_id(0); y[i] += a * x[i]; }' \
  >"$root/srv/saxpy.cl"

cat >"$root/root/steps" <<'STEPS'
# step NAME COMMAND: one line of what came of it; what it printed where it failed.
failed=0
step() {
  if printed=$(sh -c "$2" 2>&1); then echo "ok      $1"; else
    echo "FAILED  $1"
    echo "$printed" | sed 's/^/        /'
    failed=1
  fi
}
export DEBIAN_FRONTEND=noninteractive
cd /srv
step "pip install" 'python3 -m venv /opt/stampmill && /opt/stampmill/bin/pip install -q --no-index --no-deps /root/*.whl'
export PATH=/opt/stampmill/bin:$PATH
step "--version, --help" 'stampmill --version && stampmill --help'
step "features without libclang names the package" '! stampmill features saxpy.cl --space grewe >said 2>&1 && grep -q "libclang-cpp19" said'
step "doctor says how to get it" '! stampmill doctor >said && grep -q "need the clang worker: apt-get install libclang-cpp19 libllvm19" said'
step "apt-get install, as doctor says" 'apt-get update -qq && apt-get install -qq -y libclang-cpp19 libllvm19'
step "doctor" 'stampmill doctor'
step "mine, prepare, features" 'mkdir in && cp saxpy.cl in && stampmill mine in --out raw && stampmill prepare raw --out kernels &&
  stampmill features kernels --space instcount,autophase,grewe --out vectors'
step "steer" 'stampmill steer --space grewe --target comp=3,mem=2,localmem=1 --budget 2000 --seed 1 --out found'
step "query" 'test "$(stampmill query "SELECT count(*) AS n FROM k" k=kernels --format csv | tail -n 1)" = 1'
step "the module, without pandas and pyarrow" '/opt/stampmill/bin/python -c "
import stampmill
stampmill.features([\"kernel void A(global int *a) { a[get_global_id(0)] += 1; }\"], space=[\"grewe\"])"'
step "run without a device says what to install" '! stampmill run kernels --out runs >said 2>&1 && grep -q "pocl-opencl-icd" said'
step "apt-get install of a device, QEMU and g++" 'apt-get install -qq -y ocl-icd-libopencl1 pocl-opencl-icd qemu-user g++'
step "run" 'stampmill run kernels --global-sizes 2^10 --out runs'
step "time" 'echo "int main() { return 0; }" >a.cpp && stampmill time a.cpp'
useradd -m person
step "an ordinary user: features, run, time" 'su person -c "cd && PATH=$PATH && stampmill features /srv/saxpy.cl --space autophase &&
  stampmill run /srv/kernels --global-sizes 2^10 --out runs && stampmill time /srv/a.cpp"'
exit $failed
STEPS

# Mounts and process ids of its own; what is not of the root is out of sight.
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb unshare --mount --pid --fork --propagation private sh -eu -c '
  mount --bind "$1" "$1"
  cd "$1"
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount --rbind /dev dev
  mount -t tmpfs tmpfs tmp
  mkdir old
  pivot_root . old
  umount -l /old
  cd /
  exec sh /root/steps' sh "$root"
