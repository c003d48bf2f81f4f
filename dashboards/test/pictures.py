#!/usr/bin/env python3
"""Takes the pictures of docs/images: three demos, one of which leaks, under a real Prometheus for some minutes; then the
dashboards, drawn by Grafana's component library. Needs what bin/test installs, and dashboards/check.sh run once.

    dashboards/test/pictures.py [MINUTES]
"""

import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "samples/leaky-service/e2e"), str(REPOSITORY / "dashboards")]
import expressions  # noqa: E402
from processes import Demo, KubeStateMetrics, MemoryLimit, Prometheus  # noqa: E402

MIB = 1 << 20
MINUTES = 5
LIMIT = 512 * MIB
INTERVAL = 1


def demo(stack, *leaks, reports):
    """A demo with some load in a memory cgroup."""
    return stack.enter_context(
        Demo(
            *(option for leak in leaks for option in ("--leak", leak)),
            limit=stack.enter_context(MemoryLimit(LIMIT)),
            **{
                "leaky.leaks.rate": f"{MIB // 2}B",
                "leaky.load.reports-per-second": reports,
                "mallometer.poll-interval": "1s",
                "mallometer.leak.time-scale": 60,
                "mallometer.leak.longest-timeout": "5m",
            },
        )
    )


def main(minutes):
    images = REPOSITORY / "docs/images"
    with contextlib.ExitStack() as stack:
        demos = [demo(stack, "zlib", reports=10), demo(stack, reports=20), demo(stack, reports=5)]
        prometheus = stack.enter_context(
            Prometheus(
                *(one.port for one in demos),
                labels={"cluster": "test", "namespace": "shop", "pod": "leaky-service-1", "container": "app"},
                rules={name: (REPOSITORY / f"dashboards/prometheus/{name}").read_text() for name in ("recording.yml", "alerts.yml")},
                kube_state_metrics=stack.enter_context(KubeStateMetrics("shop", "leaky-service-1", "app")).address,
            )
        )
        time.sleep(minutes * 60)
        suspected = expressions.query(prometheus.url, "query", query="native_malloc_leak_suspected_bytes")["result"]
        into = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        subprocess.run(
            ["node", "picture.mjs", prometheus.url, "--seconds", str(minutes * 60 - 20), "--interval", str(INTERVAL)]
            + ["--var", f"compare={minutes * 20}s", "--into", into]
            + ([] if suspected else ["--absent", "native_malloc_leak_suspected_bytes"])
            + sorted((REPOSITORY / "dashboards/grafana").glob("mallometer-*.json")),
            cwd=REPOSITORY / "dashboards/test/render",
            check=True,
        )
        for picture in into.iterdir():
            (images / f"dashboard-{picture.name.removeprefix('mallometer-')}").write_bytes(picture.read_bytes())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MINUTES)
