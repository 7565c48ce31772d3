"""Packages of Swift: which of those in Debian's source of Swift build, and the modules they give.

Builds each folder of the source that is named in a root of Debian 13 with its Swift (mmdebstrap, as root; 0.7 GB come from the archive);
`modules=DATASET` of a run of `ir build` takes their place."""
from tools import rows, share, stampmill

FOLDERS = (
    "indexstore-db sourcekit-lsp swift-argument-parser swift-asn1 swift-atomics swift-certificates swift-collections swift-crypto swift-docc "
    "swift-docc-symbolkit swift-driver swift-experimental-string-processing swift-format swift-foundation swift-foundation-icu swift-lmdb "
    "swift-markdown swift-nio swift-nio-ssl swift-numerics swift-stress-tester swift-syntax swift-system swift-testing "
    "swift-tools-support-core swiftpm wasmkit yams"
)
SETTINGS = {"source": "deb:swiftlang@trixie", "folders": FOLDERS, "modules": "", "limit": "15m", "jobs": "2"}


def run(program, _, settings, work):
    modules = settings["modules"] or work / "modules"
    if not settings["modules"]:
        sources = [f"{settings['source']}#{folder}" for folder in settings["folders"].split()]
        stampmill(program, "ir", "build", *sources, "--limit", settings["limit"], "--jobs", settings["jobs"], "--out", modules)
    stampmill(program, "ir", "dedup", modules, "--jobs", settings["jobs"], "--out", work / "unique")
    found = rows(
        program,
        "SELECT package, max(CASE WHEN kind = 'package' THEN verdict ELSE '' END) AS verdict, max(CASE WHEN kind = 'package' THEN detail ELSE '' END) AS detail, "
        "sum(CASE WHEN kind = 'module' AND verdict = 'accepted' THEN 1 ELSE 0 END) AS modules, "
        "sum(CASE WHEN verdict = 'no-bitcode' THEN 1 ELSE 0 END) AS lost, "
        "sum(CASE WHEN kind = 'module' AND verdict = 'accepted' THEN functions ELSE 0 END) AS functions, "
        "sum(CASE WHEN kind = 'module' AND verdict = 'accepted' THEN instructions ELSE 0 END) AS instructions "
        "FROM m WHERE package <> '' GROUP BY package ORDER BY package",
        m=modules,
    )
    table = [
        [row["package"], row["verdict"] if row["verdict"] == "built" else f"{row['verdict']}: {row['detail'][:80]}", f"{row['modules']:,}",
         f"{row['lost']:,}", f"{row['functions']:,}", f"{row['instructions']:,}"]
        for row in found
    ]
    [unique] = rows(
        program,
        "SELECT count(*) AS modules, sum(functions) AS functions, sum(instructions) AS instructions, sum(bytes) AS bytes "
        "FROM u WHERE kind = 'module' AND verdict = 'accepted'",
        u=work / "unique",
    )
    built = sum(1 for row in found if row["verdict"] == "built")
    giving = sum(1 for row in found if row["verdict"] == "built" and row["modules"] > 0)
    total = [
        ["packages built", share(built, len(found))],
        ["of them with modules of Swift", f"{giving}"],
        ["unique modules", f"{unique['modules']:,}"],
        ["functions", f"{unique['functions']:,}"],
        ["instructions", f"{unique['instructions']:,}"],
        ["MB of bitcode", f"{unique['bytes'] / 1e6:.1f}"],
    ]
    return {
        "total": {"columns": ["packages of Swift", "count"], "rows": total},
        "packages": {"columns": ["package", "verdict", "modules", "without bitcode", "functions", "instructions"], "rows": table},
    }
