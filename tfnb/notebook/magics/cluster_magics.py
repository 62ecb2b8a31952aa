"""%cluster: a cluster for this notebook. Needs IPython."""
from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.core.errors import OpError
from tfnb.notebook.magics.arguments import LineMagics, parse, usage_errors
from tfnb.notebook.state.cluster_view import ClusterView, cluster, cluster_connect, cluster_local, cluster_stop


@magics_class
class ClusterMagics(LineMagics):
    """%cluster."""

    @no_var_expand
    @line_magic("cluster")
    @magic_arguments("cluster")
    @argument("what", nargs="*", help="local [WORKERS], grpc://host:port, or stop; none shows the cluster")
    @argument("--ps", type=int, default=1, metavar="N", help="with local: how many parameter servers")
    @argument("--shared", action="store_true", help="keep variables in the servers' default container, for all clients;"
              " else in one of this notebook")
    def cluster(self, line: str) -> ClusterView | None:
        """Run this notebook's graphs on a cluster: start one on this machine, or use a server.

        `%cluster local 4` starts a parameter server and four workers, TensorFlow's servers; `cluster` is their
        ClusterSpec then, for `tf.train.replica_device_setter(cluster=cluster)`. `%cluster grpc://host:2222` uses a
        server that runs. `%cluster` shows the tasks, with the training steps that sessions of this notebook run on
        each, and `%cluster stop` ends it.
        """
        args = parse(self.cluster, line)
        command, *rest = args.what or [""]
        if len(rest) > (command == "local") or rest and not rest[0].isdecimal():
            raise UsageError("%cluster [local [WORKERS] | grpc://host:port | stop]")
        with usage_errors(ValueError, OpError, ImportError):
            if command == "local":
                found = cluster_local(int(rest[0]) if rest else 2, args.ps, args.shared)
                self.ip.user_ns["cluster"] = found.spec
                return found
            if command == "stop":
                cluster_stop()
                print("sessions without a target run in this process")
                return None
            if command:
                return cluster_connect(command, args.shared)
            shown = cluster()
        if shown is None:
            print("sessions without a target run in this process; %cluster local 2 starts a cluster here")
        return shown
