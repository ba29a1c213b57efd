# Starts the training as a child.
# Right: fits (0.2 GiB, arithmetic)
import os, subprocess, sys
subprocess.run([sys.executable, "prints_loss.py"], check=True, env=dict(os.environ, SEED="1"))
