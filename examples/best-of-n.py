"""Best of n on kernels: the model that ships writes bodies for the heads of slow kernels, and the judge says which are right and faster.

    python3 examples/best-of-n.py --n 16 --rounds 2
    python3 examples/best-of-n.py --url http://127.0.0.1:8001/v1      asks `stampmill serve --judge`

What is best in a round is what the next one has to beat. The model has seen the head alone, so most of what it writes is something else;
what comes of it is printed as it is. In the end the best is judged beside the kernel that was there at first, here on other payloads.
"""

import argparse
from concurrent.futures import ThreadPoolExecutor

from stampmill import rewards, sample, shipped

KERNELS = {
    "copy": """kernel void copy(global const float* a, global float* b) {
  int i = get_global_id(0);
  float sum = 0.0f;
  for (int k = 0; k < 64; k++) sum += a[i] * 0.015625f;
  b[i] = sum;
}""",
    "bump": """kernel void bump(global int* a) {
  int i = get_global_id(0);
  for (int k = 0; k < 32; k++) a[i] += k % 2 ? 1 : -1;
  a[i] += 1;
}""",
    "add": """kernel void add(global const float* a, global const float* b, global float* c) {
  int i = get_global_id(0);
  float sum = 0.0f;
  for (int k = 0; k < 64; k++) sum += (a[i] + b[i]) * 0.015625f;
  c[i] = sum;
}""",
}
SIZES = "2^14"


def candidates(kernel, n, seed):
    """Kernels that compile, which the model has written behind the head of a kernel."""
    head = kernel.partition("{")[0]
    drawn = sample(shipped("models/infill"), prompt=head + "{\n  [HOLE]\n}", n=n, seed=seed, quiet=True)
    rows = drawn.to_arrow().select(["text", "verdict"]).to_pylist()
    return [row["text"] for row in rows if row["verdict"] == "accepted"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=16, help="samples of a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kernels", type=int, default=len(KERNELS), help="so many of them")
    parser.add_argument("--url", help="of a judge that is served, which has devices and sizes of its own")
    given = parser.parse_args()
    kernels = dict(list(KERNELS.items())[: given.kernels])
    best = dict(kernels)

    def judge(batch, seed=0):
        if given.url:
            return rewards.Remote(given.url).judge_kernels(batch)
        return rewards.judge_kernels(batch, devices="cpu", global_sizes=SIZES, budget="50ms", seed=seed, quiet=True)

    def draw(number):
        """What the model writes in a round, for each kernel."""
        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda kernel: candidates(kernel, given.n, seed=number), kernels.values()))

    for number in range(1, given.rounds + 1):
        drawn = draw(number)
        # All kernels in one batch: a judge that is started for each would take most of the time to start.
        batch = [(best[name], text) for name, texts in zip(kernels, drawn) for text in texts]
        judged = iter(judge(batch))
        for name, texts in zip(kernels, drawn):
            found = [(next(judged), text) for text in texts]
            right = sum(one.verdict == "accepted" for one, _ in found)
            reward, text = max(((one.reward, text) for one, text in found), default=(0.0, best[name]))
            print(f"{name}, round {number}: {right} of {len(texts)} are right, the best reward is {reward:.2f}", flush=True)
            if reward > 1:
                best[name] = text

    improved = [name for name in kernels if best[name] != kernels[name]]
    last = dict(zip(improved, judge([(kernels[name], best[name]) for name in improved], seed=1)))
    for name in kernels:
        if name not in last:
            print(f"{name}: 1.00 times as fast as at first", flush=True)
            continue
        accepted = last[name].verdict == "accepted"
        gain = f"{last[name].speedup:.2f} times as fast as at first" if accepted else f"{last[name].verdict} when judged again"
        print(f"{name}: {gain}, by\n{best[name]}", flush=True)


main()
