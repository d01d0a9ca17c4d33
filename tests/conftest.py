"""Tests leave the user's cache of compiled code alone, do not depend on what is in it, and can be interrupted."""

import os
import signal

os.environ["JUMPNET_CACHE"] = "off"

# Shells start what they put into the background with Ctrl-C ignored; tests of Ctrl-C would wait for ever there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
