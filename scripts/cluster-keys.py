#!/usr/bin/env python3
"""What finding equal keys, and families, on a cluster takes: memory of each executor and of the client, by number of rows.

    scripts/cluster-keys.py BIN [KEYS | families:ROWS ...]        # 1000000 3000000 10000000

Keys are synthetic: numbers below 0.9 KEYS in 32 digits, so that every tenth row repeats an earlier one. Signatures are those of
`crates/cluster/examples/families.rs`, which stands beside BIN in `examples` (`cargo build --release --workspace --examples`); its families
are compared with those that one process finds. Two executors of this machine with --memory 256MiB, one task each. Prints one
JSON object a line.
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


def find_keys(stamp, engine, home, keys):
    """The process that asks for equal keys, and what there is to say of it."""
    os.makedirs(f"{home}/one")
    with open(f"{home}/one/a.cl", "w") as file:
        file.write("kernel void k(global int *a) { a[0] = 1; }\n")
    run = lambda *words: subprocess.run([stamp, *words], cwd=home, check=True, stdout=subprocess.DEVNULL)
    run("mine", "one", "--quiet", "--out", "any")
    repeated = keys * 9 // 10
    run("query", "--memory", "16GiB", f"SELECT CAST(value AS BIGINT UNSIGNED) AS place, lpad(CAST(value % {repeated} AS VARCHAR), 32, '0') AS key, "
        f"'' AS rank FROM generate_series(0, {keys - 1})", "any", "--out", "keys")
    shards = [f"{home}/keys/{shard['file']}" for shard in json.load(open(f"{home}/keys/_dataset.json"))["shards"]]

    def start(url):
        client = subprocess.Popen([engine], stdin=subprocess.PIPE, text=True)
        question = {"repeats": {"keys": shards, "ranked": False}}
        role = {"find": {"address": {"url": url, "token": None}, "question": question, "out": f"{home}/out.parquet"}}
        client.stdin.write(json.dumps(role) + "\n")
        client.stdin.flush()
        return client
    return start, lambda: {"keys": keys, "input_mib": sum(map(os.path.getsize, shards)) >> 20,
                           "out_mib": round(os.path.getsize(f"{home}/out.parquet") / 2**20, 1)}


def find_families(stamp, engine, home, rows):
    """The same for families. The client is the example and the engine that it starts for each round."""
    example = os.path.join(os.path.dirname(stamp), "examples", "families")
    words = [example, None, f"{home}/made", str(rows), "here"]
    told = open(f"{home}/told", "w+")

    def start(url):
        environment = {**os.environ, "STAMPMILL_LIBEXEC": os.path.dirname(stamp)}
        return subprocess.Popen([url if word is None else word for word in words], cwd=home, stdout=told, env=environment)

    def say():
        told.seek(0)
        result = {}
        for line in told:
            result.update(json.loads(line))
        return result
    return start, say


def children(pid):
    try:
        return list(map(int, open(f"/proc/{pid}/task/{pid}/children").read().split()))
    except OSError:
        return []


def main():
    stamp = os.path.abspath(sys.argv[1])
    engine = os.path.join(os.path.dirname(stamp), "stampmill-cluster")
    for asked in sys.argv[2:] or ["1000000", "3000000", "10000000"]:
        find = find_families if asked.startswith("families:") else find_keys
        home = tempfile.mkdtemp(prefix="stampmill-keys-")
        os.environ["STAMPMILL_CACHE"] = f"{home}/cache"
        os.makedirs(f"{home}/tmp")
        try:
            start, say = find(stamp, engine, home, int(asked.rsplit(":", 1)[-1]))
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
            client = start(told["url"])
            of_client, of_engine = 0, 0
            while client.poll() is None:
                of_client = max(of_client, peak(client.pid))
                of_engine = max([of_engine, *map(peak, children(client.pid))])
                time.sleep(0.05)
            of_all = sum(map(seconds, pids)) - before
            result = {"ended": client.returncode, "wall_s": round(time.time() - begun, 1), "load": os.getloadavg()[0],
                      "scheduler_and_executors_s": round(of_all, 1),
                      "executors_mib": [peak(one["pid"]) for one in told["executors"]], "idle_mib": idle,
                      "scheduler_mib": peak(told["pid"]), "client_mib": of_client, "engine_of_client_mib": of_engine}
            stop.set()
            watch.join()
            result["disk_mib"] = disk[0] >> 20
            if client.returncode == 0:
                result.update(say())
            up.send_signal(signal.SIGINT)
            up.wait()
            print(json.dumps(result), flush=True)
        finally:
            shutil.rmtree(home, ignore_errors=True)


main()
