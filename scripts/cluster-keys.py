#!/usr/bin/env python3
"""What finding equal keys on a cluster takes: memory of each executor and of the client, by number of keys.

    scripts/cluster-keys.py BIN [KEYS ...]        # 1000000 3000000 10000000

Keys are synthetic: numbers below 0.9 KEYS in 32 digits, so that every tenth row repeats an earlier one. Two executors of this machine
with --memory 256MiB, one task each. Prints one JSON object a line.
"""
import json, os, shutil, signal, subprocess, sys, tempfile, threading, time

EXECUTORS, MEMORY = 2, "256MiB"


def peak(pid):
    try:
        return int(open(f"/proc/{pid}/status").read().split("VmHWM:")[1].split()[0]) >> 10
    except (OSError, IndexError):
        return 0


def seconds(pid):
    words = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def largest(folder, stop, found):
    while not stop.is_set():
        size = 0
        for top, _, files in os.walk(folder):
            for file in files:
                try:
                    size += os.path.getsize(os.path.join(top, file))
                except OSError:
                    pass
        found[0] = max(found[0], size)
        time.sleep(0.5)


def main():
    stamp = os.path.abspath(sys.argv[1])
    engine = os.path.join(os.path.dirname(stamp), "stampmill-cluster")
    for keys in map(int, sys.argv[2:] or [1_000_000, 3_000_000, 10_000_000]):
        home = tempfile.mkdtemp(prefix="stampmill-keys-")
        os.environ["STAMPMILL_CACHE"] = f"{home}/cache"
        os.makedirs(f"{home}/tmp")
        os.makedirs(f"{home}/one")
        with open(f"{home}/one/a.cl", "w") as file:
            file.write("kernel void k(global int *a) { a[0] = 1; }\n")
        try:
            run = lambda *words: subprocess.run([stamp, *words], cwd=home, check=True, stdout=subprocess.DEVNULL)
            run("mine", "one", "--quiet", "--out", "any")
            repeated = keys * 9 // 10
            run("query", "--memory", "16GiB", f"SELECT CAST(value AS BIGINT UNSIGNED) AS place, lpad(CAST(value % {repeated} AS VARCHAR), 32, '0') AS key "
                f"FROM generate_series(0, {keys - 1})", "any", "--out", "keys")
            shards = [f"{home}/keys/{shard['file']}" for shard in json.load(open(f"{home}/keys/dataset.json"))["shards"]]
            up = subprocess.Popen([stamp, "cluster", "up", "--json", "--listen", "127.0.0.1:0", "--executors", str(EXECUTORS),
                                   "--jobs", "1", "--memory", MEMORY], cwd=home, stdout=subprocess.PIPE,
                                  env={**os.environ, "TMPDIR": f"{home}/tmp"})
            told = json.loads(up.stdout.readline())
            idle = [peak(one["pid"]) for one in told["executors"]]
            pids = [told["pid"], *(one["pid"] for one in told["executors"])]
            before = sum(map(seconds, pids))
            stop, disk = threading.Event(), [0]
            watch = threading.Thread(target=largest, args=(f"{home}/tmp", stop, disk))
            watch.start()
            begun = time.time()
            client = subprocess.Popen([engine], stdin=subprocess.PIPE, text=True)
            role = {"repeats": {"address": {"url": told["url"], "token": None}, "keys": shards, "out": f"{home}/out.parquet"}}
            client.stdin.write(json.dumps(role) + "\n")
            client.stdin.flush()
            of_client, own = 0, 0
            while client.poll() is None:
                of_client = max(of_client, peak(client.pid))
                try:
                    own = seconds(client.pid)
                except OSError:
                    pass
                time.sleep(0.05)
            result = {"keys": keys, "ended": client.returncode, "wall_s": round(time.time() - begun, 1),
                      "processor_s": round(sum(map(seconds, pids)) - before + own, 1),
                      "executors_mib": [peak(one["pid"]) for one in told["executors"]], "idle_mib": idle,
                      "scheduler_mib": peak(told["pid"]), "client_mib": of_client,
                      "input_mib": sum(map(os.path.getsize, shards)) >> 20}
            stop.set()
            watch.join()
            result["disk_mib"] = disk[0] >> 20
            if client.returncode == 0:
                result["out_mib"] = round(os.path.getsize(f"{home}/out.parquet") / 2**20, 1)
            up.send_signal(signal.SIGINT)
            up.wait()
            print(json.dumps(result), flush=True)
        finally:
            shutil.rmtree(home, ignore_errors=True)


main()
