"""Best of n on kernels: the model that ships writes bodies for the heads of slow kernels, and the judge says which are right and faster.

    python3 examples/best-of-n.py --n 16 --rounds 2
    python3 examples/best-of-n.py --url http://127.0.0.1:8001/v1      asks `stampmill serve --judge`

What is best in a round is what the next one has to beat. The model has seen the head alone, so most of what it writes is something else;
what comes of it is printed as it is. In the end the best is judged beside the kernel that was there at first, here on other payloads.
"""

import argparse

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

    def judge(batch, seed=0):
        if given.url:
            return rewards.Remote(given.url).judge_kernels(batch)
        return rewards.judge_kernels(batch, devices="cpu", global_sizes=SIZES, budget="50ms", seed=seed, quiet=True)

    for name, kernel in list(KERNELS.items())[: given.kernels]:
        best = kernel
        for number in range(1, given.rounds + 1):
            texts = candidates(kernel, given.n, seed=number)
            judged = judge([(best, text) for text in texts])
            right = sum(one.verdict == "accepted" for one in judged)
            reward, text = max(((one.reward, text) for one, text in zip(judged, texts)), default=(0.0, best))
            print(f"{name}, round {number}: {right} of {len(texts)} are right, the best reward is {reward:.2f}", flush=True)
            if reward > 1:
                best = text
        if best == kernel:
            print(f"{name}: 1.00 times as fast as at first", flush=True)
            continue
        last = judge([(kernel, best)], seed=1)[0]
        gain = f"{last.speedup:.2f} times as fast as at first" if last.verdict == "accepted" else f"{last.verdict} when judged again"
        print(f"{name}: {gain}, by\n{best}", flush=True)


main()
