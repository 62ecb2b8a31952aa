"""Runs in the environment that has TensorFlow 1.15: measures the programs of a JSON file and writes a JSON file."""
import json
import os
import sys
import traceback
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import measure  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)

with open(sys.argv[1]) as file:
    programs = json.load(file)
facts = {}
for name, code in programs.items():
    try:
        facts[name] = measure.measure(tf, code)
    except Exception:
        facts[name] = {"error": traceback.format_exc()[-1500:]}
with open(sys.argv[2], "w") as file:
    json.dump(facts, file)
