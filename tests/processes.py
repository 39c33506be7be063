"""Code in a process of its own."""

import json
import os
import subprocess
import sys


def python(code, **environment):
    """Run code in a fresh interpreter and read the JSON it prints."""
    command, environment = [sys.executable, "-c", code], os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)
