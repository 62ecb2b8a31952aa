"""Graphs in a notebook: drawn, watched and fetched. `%load_ext tfnb` adds magics of the same names.

Nothing here imports IPython, ipywidgets or Graphviz before it is used.
"""
from tfnb.debug.profile import Profile, profile
from tfnb.notebook.debug.edge_values import Watched
from tfnb.notebook.debug.nan_view import NanView, nan
from tfnb.notebook.debug.step_view import StepView, step
from tfnb.notebook.debug.timeline_view import TimelineView, timeline
from tfnb.notebook.debug.watch_view import WatchView, watch
from tfnb.notebook.exercise import Verdict, check
from tfnb.notebook.frontend.fetch import NoSessionError, fetch, find_session
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.graph.costs import Cost, measure
from tfnb.notebook.graph.view import GraphView, graph_view, graphviz
from tfnb.notebook.ownership.collection_tree import CollectionTree, collections
from tfnb.notebook.ownership.rerun import StaleCells, run_stale, stale, undo
from tfnb.notebook.ownership.why import Why, why
from tfnb.notebook.plots.board import LiveBoard, live, record
from tfnb.notebook.plots.training import Run
from tfnb.notebook.run_store.runs_view import RunsView, runs
from tfnb.notebook.run_store.train import train
from tfnb.notebook.show.shown import ArrayView, Page, show
from tfnb.notebook.state.checkpoint_views import (
    CheckpointView,
    RestoreView,
    checkpoint,
    checkpoint_diff,
    checkpoints,
    restore_checkpoint,
    save_checkpoint,
)
from tfnb.notebook.state.initialize import initialize
from tfnb.notebook.state.queue_view import QueuesView, queues
from tfnb.notebook.state.state_views import SlotsView, VariablesView, slots, variables

__all__ = [
    "ArrayView",
    "CheckpointView",
    "CollectionTree",
    "Cost",
    "GraphView",
    "LiveBoard",
    "NanView",
    "NoSessionError",
    "Page",
    "Profile",
    "QueuesView",
    "RestoreView",
    "Run",
    "RunsView",
    "SlotsView",
    "StaleCells",
    "StepView",
    "TimelineView",
    "VariablesView",
    "Verdict",
    "WatchView",
    "Watched",
    "Why",
    "check",
    "checkpoint",
    "checkpoint_diff",
    "checkpoints",
    "collections",
    "fetch",
    "find_session",
    "graph_view",
    "graphviz",
    "initialize",
    "live",
    "measure",
    "nan",
    "profile",
    "queues",
    "record",
    "restore_checkpoint",
    "run_stale",
    "runs",
    "save_checkpoint",
    "settings",
    "show",
    "slots",
    "stale",
    "step",
    "timeline",
    "train",
    "undo",
    "variables",
    "watch",
    "why",
]
