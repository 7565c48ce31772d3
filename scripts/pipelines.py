#!/usr/bin/env python3
"""Choose the pipelines that ship: crates/cost/pipelines/{coreset,fixed}.txt.

    scripts/pipelines.py STAMPMILL KERNELS WORK [--sequences 240] [--programs 400] [--seed 0]

Random sequences of passes run on programs of the packages to train on (HELD_OUT are left out, and what is a
near-duplicate of one of theirs), by `stampmill label --task passes --pipelines`. Then they are chosen greedily:
whatever raises the mean gain over clang's -Oz most, once the set's best is taken for each program. 34 of
them and clang's levels are the coreset; of these the first five, `oz` among them, the fixed set.
scripts/figures/passes.py scores both on the held-out packages. Labels that are in WORK already are used again.
"""
import argparse
import json
import pathlib
import random
import subprocess

# Fixed before the first label.
HELD_OUT = ["opencv", "bullet", "oclgrind", "pyopencl", "clblast", "erlang-cl", "onednn", "imagemagick"]
CORESET = 40
FIXED = 5

LEVELS = [
    ("oz", "minsize", "default<Oz>"),
    ("oz-plain", "-", "default<Oz>"),
    ("os", "-", "default<Os>"),
    ("o1", "-", "default<O1>"),
    ("o2", "-", "default<O2>"),
    ("o3", "-", "default<O3>"),
]
FUNCTION = """adce aggressive-instcombine bdce consthoist constraint-elimination correlated-propagation dce div-rem-pairs dse
early-cse early-cse<memssa> flatten-cfg float2int gvn gvn-hoist gvn-sink instcombine<no-verify-fixpoint> instsimplify jump-threading libcalls-shrinkwrap
loop-distribute loop-fusion loop-load-elim loop-sink lower-expect mem2reg memcpyopt mergeicmps mldst-motion nary-reassociate newgvn
partially-inline-libcalls reassociate sccp scalarizer separate-const-offset-from-gep simplifycfg
simplifycfg<bonus-inst-threshold=2;forward-switch-cond;switch-to-lookup;hoist-common-insts;sink-common-insts> sink slsr speculative-execution
sroa tailcallelim vector-combine loop-simplify lcssa slp-vectorizer loop-vectorize loop-unroll""".split()
LOOP = """indvars loop-deletion loop-idiom loop-instsimplify loop-reduce loop-rotate loop-simplifycfg loop-unroll-full
loop-mssa(licm) loop-mssa(simple-loop-unswitch) loop-mssa(loop-instsimplify,loop-simplifycfg,licm)""".split()
MODULE = """inline argpromotion deadargelim globaldce globalopt ipsccp function-attrs called-value-propagation constmerge mergefunc
always-inline strip-dead-prototypes""".split()
CGSCC = {"inline", "argpromotion", "function-attrs"}
END = ["function(instcombine<no-verify-fixpoint>,simplifycfg,adce)", "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,dce)", "default<Oz>", ""]


def one(rng):
    """A random sequence: begun and ended as compilers do more often than not."""
    parts = [rng.choice(["default<Oz>", "function(sroa,early-cse,simplifycfg)", "function(mem2reg)", "always-inline,cgscc(inline),function(sroa)"])]
    for _ in range(rng.randint(3, 18)):
        kind = rng.random()
        if kind < 0.2:
            name = rng.choice(MODULE)
            parts.append(f"cgscc({name})" if name in CGSCC else name)
        elif kind < 0.4:
            name = rng.choice(LOOP)
            parts.append(f"function({name})" if name.startswith("loop-mssa") else f"function(loop({name}))")
        else:
            parts.append(f"function({rng.choice(FUNCTION)})")
    parts.append(rng.choice(END))
    return ",".join(part for part in parts if part)


def write(path, head, pipelines):
    lines = [f"# {line}" for line in head] + [" ".join(pipeline) for pipeline in pipelines]
    path.write_text("\n".join(lines) + "\n")


def greedy(costs, chosen, count):
    """Indices of pipelines, `chosen` first; `costs` by program, None where one failed."""
    chosen = list(chosen)
    worst = float("inf")
    best = [min((row[at] if row[at] is not None else worst) for at in chosen) for row in costs]
    while len(chosen) < count:
        def gain(at):
            return sum((old - row[at]) / row[0] for row, old in zip(costs, best) if row[at] is not None and row[at] < old)
        at = max((at for at in range(len(costs[0])) if at not in chosen), key=gain)
        chosen.append(at)
        best = [min(old, row[at]) if row[at] is not None else old for row, old in zip(costs, best)]
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stampmill", type=pathlib.Path)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--sequences", type=int, default=240)
    parser.add_argument("--programs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)

    def stampmill(*arguments):
        return subprocess.run([str(options.stampmill), *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout

    held = ", ".join(f"'{name}'" for name in HELD_OUT)
    train = options.work / "train"
    stampmill("query", f"SELECT * FROM k WHERE verdict = 'accepted' AND package NOT IN ({held}) AND family NOT IN "
              f"(SELECT family FROM k WHERE package IN ({held})) ORDER BY substr(id, {1 + options.seed}, 12) LIMIT {options.programs}",
              f"k={options.kernels}", "--out", train, "--force", "--quiet")
    rng = random.Random(options.seed)
    sequences, seen = [], set()
    while len(sequences) < options.sequences:
        passes = one(rng)
        if passes not in seen:
            seen.add(passes)
            sequences.append((f"p{len(sequences):03}", rng.choice(["minsize", "-"]), passes))
    tried = LEVELS + sequences
    write(options.work / "tried.txt", ["all that was tried"], tried)
    if not (options.work / "labels").exists():
        print(stampmill("label", "--task", "passes", train, "--pipelines", options.work / "tried.txt", "--out", options.work / "labels", "--quiet"))
    rows = stampmill("query", "SELECT costs FROM t WHERE label IS NOT NULL OR verdict = 'choice-failed' ORDER BY id", f"t={options.work / 'labels'}", "--format", "jsonl")
    costs = [json.loads(line)["costs"] for line in rows.splitlines()]
    costs = [row for row in costs if row[0]]
    levels = list(range(len(LEVELS)))
    coreset = greedy(costs, levels, CORESET)
    fixed = greedy([[row[at] for at in coreset] for row in costs], [0], FIXED)

    def mean_gain(places):
        return 100 * sum(1 - min(row[at] for at in places if row[at] is not None) / row[0] for row in costs) / len(costs)

    source = [f"Made by scripts/pipelines.py --sequences {options.sequences} --programs {options.programs} --seed {options.seed};",
              f"{len(costs)} programs of other packages than", f"{', '.join(HELD_OUT)}."]
    folder = pathlib.Path(__file__).parent.parent / "crates" / "cost" / "pipelines"
    write(folder / "coreset.txt", source, [tried[at] for at in coreset])
    write(folder / "fixed.txt", source, [tried[coreset[at]] for at in fixed])
    print(json.dumps({
        "programs": len(costs),
        "best_single_percent": max((mean_gain([at]), tried[at][0]) for at in range(len(tried)) if all(row[at] is not None for row in costs)),
        "all_tried_percent": mean_gain(range(len(tried))),
        "coreset_percent": mean_gain(coreset),
        "fixed_percent": mean_gain([coreset[at] for at in fixed]),
        "fixed": [tried[coreset[at]] for at in fixed],
    }, indent=1))


if __name__ == "__main__":
    main()
