"""Run tests as if on another processor: ``python .ci/processors.py [pytest arguments]``.

OpenBLAS uses kernels that it would not choose here, and the vector instructions that NumPy would find at run time are
switched off, as on an older processor. This cannot show what this processor lacks, so the tests pass nowhere for being
run here, but a test that needs one processor's last digits fails. Both settings are read once, when a library is
loaded: by a new process.
"""

import json
import os
import subprocess
import sys

KERNELS = ("Haswell", "SkylakeX", "Nehalem")  # the first that this processor can run and does not run anyway

FACTS = """
import json
import numpy._core._multiarray_umath as umath
import scipy.linalg
from threadpoolctl import threadpool_info
blas = [each.get("architecture") for each in threadpool_info() if each["internal_api"] == "openblas"]
dispatched = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
avx512 = any(umath.__cpu_features__.get(name) for name in ("AVX512_SKX", "X86_V4"))
print(json.dumps({"blas": blas, "dispatched": dispatched, "avx512": avx512}))
"""


def facts(**environment: str) -> dict:
    """Return the kernels of each loaded OpenBLAS, the features NumPy dispatches to, and whether AVX-512 is there."""
    done = subprocess.run(
        [sys.executable, "-c", FACTS], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


def other_kernels() -> dict[str, str]:
    """Return the setting that makes NumPy's and SciPy's OpenBLAS use other kernels than they choose here, if any."""
    here = facts()
    for name in KERNELS:
        if name in here["blas"] or (name == "SkylakeX" and not here["avx512"]):
            continue
        if set(facts(OPENBLAS_CORETYPE=name)["blas"]) == {name}:
            return {"OPENBLAS_CORETYPE": name}
    return {}


def fewer_features() -> dict[str, str]:
    """Return the setting that switches off every feature NumPy finds here beyond its baseline, if there are any."""
    dispatched = facts()["dispatched"]
    setting = {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched)}
    return setting if dispatched and not facts(**setting)["dispatched"] else {}


def main() -> int:
    """Run pytest with both settings."""
    settings = other_kernels() | fewer_features()
    if not settings:
        print("not run: nothing but what this processor uses anyway can be chosen")
        return 0
    print(*(f"{name}={value!r}" for name, value in settings.items()), flush=True)
    return subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:]], env={**os.environ, **settings}).returncode


if __name__ == "__main__":
    sys.exit(main())
