"""Tests leave the user's cache of compiled code alone, and do not depend on what is in it."""

import os

os.environ["JUMPNET_CACHE"] = "off"
