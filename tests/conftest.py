"""Tests leave the user's cache of compiled code alone, compile without optimisations, and can be interrupted."""

import os
import signal

os.environ["JUMPNET_CACHE"] = "off"

# Most of the time of small tests is compiling, of which LLVM's optimisations are more than half (measured: a training of
# 20 steps in the plane takes 3.5 s of CPU instead of 8.3 s). What tests start inherits it, so bits are comparable.
# `make test-all` compiles as users do: JUMPNET_TEST_OPTIMISED=1.
if os.environ.get("JUMPNET_TEST_OPTIMISED", "0") in ("", "0"):
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=0"

# Shells start what they put into the background with Ctrl-C ignored; tests of Ctrl-C would wait for ever there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
