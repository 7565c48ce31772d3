#!/usr/bin/env python3
"""What a cluster costs: processor time of stages alone and on a cluster of one executor, both with two threads.

    scripts/cluster-cost.py BIN [--times=N] [STAGE:ROWS[:PARTS] ...]        # features:1000 features:10000 prepare:1000 time:40
    scripts/cluster-cost.py BIN --no-alone small:1000 small:10000 small:100000       # how memory grows
    scripts/cluster-cost.py BIN --no-alone dedup:1000 dedup:10000        # of `ir dedup`, by number of modules

Each run is in a control group of its own, which counts every process of it, in whatever namespaces: needs root and
cgroup v1 (cpuacct, memory) or v2. The cluster's start is not counted: it runs before and after. Runs alone and on the cluster
take turns, N of each; medians. Prints one JSON object a line.
"""
import json, os, random, shutil, signal, subprocess, sys, tempfile, time


class Group:
    """A control group: processor seconds and the largest memory of all that ever was in it."""

    def __init__(self, name):
        v1 = os.path.isdir("/sys/fs/cgroup/cpuacct")
        roots = ["/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/memory"] if v1 else ["/sys/fs/cgroup"]
        self.folders = [f"{root}/stampmill-cost-{os.getpid()}-{name}" for root in roots]
        self.v1 = v1
        for folder in self.folders:
            os.mkdir(folder)

    def start(self, words, **more):
        def enter():
            for folder in self.folders:
                with open(f"{folder}/cgroup.procs", "w") as procs:
                    procs.write(str(os.getpid()))
        return subprocess.Popen(words, preexec_fn=enter, **more)

    def seconds(self):
        if self.v1:
            return int(open(f"{self.folders[0]}/cpuacct.usage").read()) / 1e9
        return int(open(f"{self.folders[0]}/cpu.stat").readline().split()[1]) / 1e6

    def peak_mib(self):
        name = "memory.max_usage_in_bytes" if self.v1 else "memory.peak"
        return int(open(f"{self.folders[-1]}/{name}").read()) >> 20

    def remove(self):
        for folder in self.folders:
            for _ in range(50):
                try:
                    os.rmdir(folder)
                    break
                except OSError:
                    time.sleep(0.1)


def programs(folder, rows):
    os.makedirs(folder)
    for at in range(rows):
        lines = "\n".join(f"  s = s * {line} + a[(s + {line}) % n];" for line in range(20))
        text = f"kernel void k(global int *a, int n) {{ int s = {at};\n{lines}\n  a[get_global_id(0)] = s; }}\n"
        with open(f"{folder}/{at}.cl", "w") as file:
            file.write(text)


def suite(folder, rows):
    os.makedirs(folder)
    for at in range(rows):
        text = ("#include <stdio.h>\nint main(void) { int n = 0, s = %d; scanf(\"%%d\", &n);\n"
                "  for (int i = 0; i < n * 100; i++) s = s * 31 + i;\n  printf(\"%%d\\n\", s); }\n" % at)
        for name, content in [("c", text), ("a.in", "7000\n")]:
            with open(f"{folder}/p{at}.{name}", "w") as file:
                file.write(content)


def small(folder, rows):
    os.makedirs(folder)
    for at in range(rows):
        with open(f"{folder}/{at}.cl", "w") as file:
            file.write(f"kernel void k{at}(global int *a, int n) {{ a[get_global_id(0)] += n; }}\n")


def modules(folder, rows):
    """Modules of four functions, of which no two have one structure; every tenth is an earlier one under other names."""
    os.makedirs(folder)
    kinds = ["add", "sub", "mul", "xor", "and", "or", "shl", "lshr"]
    for at in range(rows):
        draw = random.Random(at - at % 10 if at % 10 == 9 else at)
        text = ""
        for number in range(4):
            text += f"define i32 @f{at}_{number}(i32 %a, i32 %b) {{\n"
            values = ["%a", "%b"]
            for line in range(draw.randint(10, 40)):
                text += f"  %v{line} = {draw.choice(kinds)} i32 {draw.choice(values)}, {draw.choice(values[-4:])}\n"
                values.append(f"%v{line}")
            text += f"  ret i32 {values[-1]}\n}}\n"
        with open(f"{folder}/{at}.ll", "w") as file:
            file.write(text)


# What makes the files, what makes a data set of them (else they are read as they are), the stage.
MINE, EXTRACT = ["mine", "folder", "--out", "in"], ["ir", "extract", "folder", "--out", "in"]
STAGES = {
    "small": (small, MINE, ["features", "in", "--space", "grewe"]),
    "features": (programs, MINE, ["features", "in", "--space", "grewe,instcount,autophase"]),
    "prepare": (programs, MINE, ["prepare", "in"]),
    "time": (suite, None, ["time", "--suite", "in"]),
    "dedup": (modules, EXTRACT, ["ir", "dedup", "in"]),
}


def measure(stamp, home, words, group):
    begun, before = time.time(), group.seconds()
    process = group.start([stamp, *words, "--json"], cwd=home, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = open(f"/proc/{process.pid}/status").read()
            peak = max(peak, int(status.split("VmHWM:")[1].split()[0]) >> 10)
        except (OSError, IndexError):
            pass
        time.sleep(0.05)
    if process.returncode != 0:
        sys.exit(f"{words} ended with {process.returncode}")
    return {"processor_s": round(group.seconds() - before, 2), "wall_s": round(time.time() - begun, 2), "client_peak_mib": peak}


def median(values):
    values = sorted(values)
    return round((values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2, 2)


def main():
    stamp = os.path.abspath(sys.argv[1])
    alone = "--no-alone" not in sys.argv
    times = int(([word[8:] for word in sys.argv if word.startswith("--times=")] or ["1"])[0])
    asked = [word for word in sys.argv[2:] if not word.startswith("--")]
    for asked in asked or ["features:1000", "features:10000", "prepare:1000", "time:40"]:
        stage, rows, parts = (asked.split(":") + [""])[:3]
        make, collect, words = STAGES[stage]
        words = [*words, "--jobs", "2"]
        home = tempfile.mkdtemp(prefix="stampmill-cost-")
        try:
            os.environ["STAMPMILL_CACHE"] = f"{home}/cache"
            make(f"{home}/folder" if collect else f"{home}/in", int(rows))
            if collect:
                # Each part reads its whole input: a data set, as stages are given.
                subprocess.run([stamp, *collect, "--quiet"], cwd=home, check=True, stdout=subprocess.DEVNULL)
            result = {"stage": stage, "rows": int(rows), "parts": parts, "times": times, "load": os.getloadavg()[0]}
            one, group, client = Group("alone"), Group("cluster"), Group("client")
            up = group.start([stamp, "cluster", "up", "--json", "--listen", "127.0.0.1:0", "--executors", "1", "--jobs", "2"],
                             cwd=home, stdout=subprocess.PIPE)
            url = json.loads(up.stdout.readline())["url"]
            time.sleep(2)
            of_one, of_client, of_others = [], [], []
            # By turns, since other work on the machine makes all of it dearer.
            for _ in range(times):
                shutil.rmtree(f"{home}/cache", ignore_errors=True)
                if alone:
                    of_one.append(measure(stamp, home, [*words, "--out", "alone", "--force"], one))
                    shutil.rmtree(f"{home}/cache", ignore_errors=True)
                before = group.seconds()
                of_client.append(measure(stamp, home, [*words, "--out", "many", "--force", "--cluster", url,
                                                       *(["--cluster-parts", parts] if parts else [])], client))
                of_others.append(group.seconds() - before)
            seconds = lambda runs: [run["processor_s"] for run in runs]
            result["client_s"] = median(seconds(of_client))
            result["client_peak_mib"] = max(run["client_peak_mib"] for run in of_client)
            result["cluster_s"] = median([own + others for own, others in zip(seconds(of_client), of_others)])
            result["executor_and_scheduler_peak_mib"] = group.peak_mib()
            if alone:
                result["alone_s"] = median(seconds(of_one))
                result["alone_peak_mib"] = one.peak_mib()
                result["more"] = round(result["cluster_s"] / result["alone_s"] - 1, 4)
                result["each"] = [seconds(of_one), seconds(of_client), [round(others, 2) for others in of_others]]
                result["same"] = subprocess.run(["diff", "-rq", "alone", "many"], cwd=home).returncode == 0
            up.send_signal(signal.SIGINT)
            up.wait()
            for each in (one, group, client):
                each.remove()
            print(json.dumps(result), flush=True)
        finally:
            shutil.rmtree(home, ignore_errors=True)


main()
