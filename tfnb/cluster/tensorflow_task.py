"""A task of a cluster: TensorFlow's server, run by a Python that has TensorFlow.

A script of its own (see children.py), which imports nothing of tfnb. Its standard input is a serialized ServerDef
behind 8 bytes of its length, and stays open as long as the process that started it; its output is a line: "READY" and
the target, or "ERROR", a status code and a message.
"""
import os
import sys
import threading


def main() -> None:
    """Start the server, and run until the standard input ends."""
    size = int.from_bytes(sys.stdin.buffer.read(8), "little")
    text = sys.stdin.buffer.read(size)
    from tensorflow.compat.v1.train import Server  # type: ignore[import-untyped]
    from tensorflow.core.protobuf.tensorflow_server_pb2 import ServerDef  # type: ignore[import-untyped]

    try:
        server = Server(ServerDef.FromString(text))
    except Exception as error:
        code = getattr(error, "error_code", 2)
        print("ERROR", code, " ".join(str(error).split()), flush=True)
        return
    threading.Thread(target=_end_with_parent, daemon=True).start()
    print("READY", server.target, flush=True)
    server.join()


def _end_with_parent() -> None:
    while sys.stdin.buffer.read(1 << 12):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
