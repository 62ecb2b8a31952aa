"""Graphs in a notebook: drawn, watched and fetched. `%load_ext tfnb` adds magics of the same names.

Nothing here imports IPython, ipywidgets or Graphviz before it is used.
"""
from tfnb.notebook.again import StaleCells, run_stale, stale, undo
from tfnb.notebook.board import LiveBoard, live, record
from tfnb.notebook.checkpoint_views import (
    CheckpointView,
    RestoreView,
    checkpoint,
    checkpoint_diff,
    checkpoints,
    restore_checkpoint,
    save_checkpoint,
)
from tfnb.notebook.collection_tree import CollectionTree, collections
from tfnb.notebook.costs import Cost, measure
from tfnb.notebook.exercise import Verdict, check
from tfnb.notebook.fetch import NoSessionError, fetch, find_session
from tfnb.notebook.graph_view import GraphView, graph_view
from tfnb.notebook.initialize import initialize
from tfnb.notebook.nan_view import NanView, nan
from tfnb.notebook.queue_view import QueuesView, queues
from tfnb.notebook.settings import settings
from tfnb.notebook.state_views import SlotsView, VariablesView, slots, variables
from tfnb.notebook.step_view import StepView, step
from tfnb.notebook.timeline_view import TimelineView, timeline
from tfnb.notebook.train import train
from tfnb.notebook.training import Run
from tfnb.notebook.watch import Watched, watch
from tfnb.notebook.why import Why, why
from tfnb.runtime.profile import Profile, profile

__all__ = [
    "CheckpointView",
    "CollectionTree",
    "Cost",
    "GraphView",
    "LiveBoard",
    "NanView",
    "NoSessionError",
    "Profile",
    "QueuesView",
    "RestoreView",
    "Run",
    "SlotsView",
    "StaleCells",
    "StepView",
    "TimelineView",
    "VariablesView",
    "Verdict",
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
    "initialize",
    "live",
    "measure",
    "nan",
    "profile",
    "queues",
    "record",
    "restore_checkpoint",
    "run_stale",
    "save_checkpoint",
    "settings",
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
