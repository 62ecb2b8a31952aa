"""The lessons, one record each: to add one, write its recogniser and a record here.

A recogniser takes the evidence (evidence.py) and yields the words in braces of the sentence and of the fix. It must be
certain: `tests/notebook/test_lessons.py` runs all of them over correct programs, which none may alarm.
"""
from __future__ import annotations

from tfnb.notebook.lessons import failures, feeds, graphs, programs
from tfnb.notebook.lessons.lesson import Lesson

LESSONS: tuple[Lesson, ...] = (
    # of errors
    Lesson("value-in-place-of-tensor", failures.value_in_place_of_tensor,
           "`{name}` is no tensor any more but a value ({kind}){place}: a line such as `{name} = sess.run({name})` "
           "gave its name away. Give values names of their own, as in `{name}_value = sess.run({name})`.",
           "03_sessions_feeds#A fetch and a feed", runs=True),
    Lesson("overwritten-placeholder", feeds.overwritten_placeholder,
           "`{name}` means the data{place}, no longer the placeholder: in `{{{name}: {name}}}` the key must be the "
           "tensor. Give the data another name, and `{name}` its tensor again.",
           "03_sessions_feeds#When a feed does not fit", runs=True),
    Lesson("missing-feed", feeds.missing_feed,
           "`{name}` is a placeholder, which has no value of its own: each run that needs it is given one, {kind}.",
           "03_sessions_feeds#A fetch and a feed"),
    Lesson("uninitialized", failures.uninitialized,
           "`{name}` has no value in this session yet: {why}.",
           "04_variables_sharing#A variable is a box with a memory", runs=True),
    Lesson("closed-session", failures.closed_session,
           "`{name}` is closed, and the values of its variables are gone with it: a `with` block closes its session at "
           "the end. Move the run into the block, or use a session that stays open.",
           "03_sessions_feeds#A default session, and the end of one",
           "{name} = {tf}.InteractiveSession()\n{name}.run({tf}.global_variables_initializer())"),
    Lesson("no-session", failures.no_session,
           "A tensor has a value in a session only, and there is no default one: run it in yours, or make a session "
           "the default.", "03_sessions_feeds#A default session, and the end of one",
           "sess = {tf}.InteractiveSession()"),
    Lesson("tensor-as-bool", failures.tensor_as_bool,
           "Python decides `{word}` now, while the graph is built, and the tensor has no value before a session runs "
           "it: a decision that depends on values is an op, `{instead}`.",
           "02_graphs_names_collections#Nothing is computed yet"),
    Lesson("tensor-as-list", failures.tensor_as_list,
           "Python can't loop over a tensor or unpack it: its values are there only in a run. `{tf}.unstack` splits it "
           "into tensors, `{tf}.map_fn` applies a function to each row.",
           "02_graphs_names_collections#Nothing is computed yet"),
    Lesson("numpy-of-tensor", failures.numpy_of_tensor,
           "`{name}` computes now, with values, and a tensor has none before a session runs it: use tfnb's function in "
           "the graph, or run the tensor first.", "02_graphs_names_collections#Nothing is computed yet"),
    Lesson("fed-tensor", feeds.fed_tensor,
           "`{name}` is a tensor, and a feed takes values: run it first, or use it in the graph in place of the "
           "placeholder.", "03_sessions_feeds#Any tensor can be fed"),
    Lesson("fed-shape", feeds.fed_shape,
           "`{name}` {problem}: the placeholder takes {kind}.", "03_sessions_feeds#When a feed does not fit"),
    Lesson("ragged-feed", feeds.ragged_feed,
           "The rows that are fed for '{name}' are not of one length, so they make no array: pad or cut them to the "
           "same length.", "03_sessions_feeds#When a feed does not fit"),
    Lesson("feeds-not-a-dict", feeds.feeds_not_a_dict,
           "The second argument of `run` is the feed_dict: to fetch `{name}` too, put it into a list with the first.",
           "03_sessions_feeds#Fetching several things at once"),
    Lesson("feed-by-string", feeds.feed_by_string,
           "'{name}' is the name of an op, and a feed replaces a tensor: the key is the Python variable, or the name "
           "with its output, '{name}:0'.", "03_sessions_feeds#A fetch and a feed"),
    Lesson("fetch-of-none", failures.fetch_of_none,
           "`{name}` is None: a function without `return` gave it, or `tf.gradients` found no way to that variable.",
           "05_gradients_optimizers#A derivative is a graph"),
    Lesson("other-graph", failures.other_graph,
           "A session runs the graph it was made for, and this tensor is of another one: make the session after "
           "`{tf}.reset_default_graph()`, or with `{tf}.Session(graph=...)`.",
           "02_graphs_names_collections#Several graphs"),
    Lesson("variable-twice", failures.variable_twice,
           "`{tf}.get_variable` was called twice for '{name}': say that the second call shares the first one's "
           "variable, or give it another scope.", "04_variables_sharing#Names for variables: variable scopes",
           'with {tf}.variable_scope("", reuse={tf}.AUTO_REUSE):'),
    Lesson("no-gradients", failures.no_gradients,
           "The loss does not depend on a variable in a way that has a derivative: {why}.",
           "05_gradients_optimizers#A derivative is a graph"),
    Lesson("label-form", failures.label_form, "The labels do not fit the function: {what}.",
           "01_first_graph#When something does not fit"),
    Lesson("maximize", failures.maximize,
           "Optimizers go downhill only: to make a value large, minimize its negative.",
           "05_gradients_optimizers#An optimizer does both halves"),
    Lesson("dtypes-differ", failures.dtypes_differ,
           "`{name}` holds integers and the other operand {target}: ops convert nothing by themselves.",
           "01_first_graph#When something does not fit"),
    # of cells that ran to their end
    Lesson("shadowing", programs.shadowing,
           "Line {line} gave the name `{name}` to a value, so the tensor has no name any more and the next run of "
           "`{name}` fails. Call the value something else.", "03_sessions_feeds#A fetch and a feed", failed=False),
    Lesson("growing-graph", programs.growing,
           "The loop makes the graph larger: line {line} added {count} ops ({types}) in {times} iterations, and each "
           "run after that is planned anew. Make the ops once, before the loop.",
           "02_graphs_names_collections#Nothing is computed yet", failed=False),
    Lesson("uncounted-steps", programs.uncounted_steps,
           "`{name}` stays 0: nothing adds to it, so rates that decay don't, and checkpoints all have one number. Pass "
           "it to `minimize` or `apply_gradients`.",
           "06_clipping_decay_averages#Decay: large steps first, small ones later",
           "minimize(loss, global_step={name})", failed=False),
    Lesson("starting-in-loop", programs.starting_in_loop,
           "Line {line} runs the initializer in each iteration, so each training step begins from new weights: run it "
           "once, before the loop.", "04_variables_sharing#A variable is a box with a memory", failed=False),
    Lesson("starting-after-restore", programs.starting_after_restore,
           "Line {line} runs the initializer after line {restored} restored the variables: their restored values are "
           "overwritten. Initialize first, or not at all.",
           "09_checkpoints_meta_graphs#Losing it, and getting it back", failed=False),
    Lesson("made-not-run", programs.made_not_run,
           "Line {line}: `{name}` makes an op, which does nothing until a session runs it.",
           "02_graphs_names_collections#Nothing is computed yet", failed=False),
    Lesson("equal-tensors", programs.equal_tensors,
           "Line {line}: `{text}` asks Python whether both are the same object, now; it does not compare values.",
           "02_graphs_names_collections#Nothing is computed yet", failed=False),
    Lesson("once-for-all", programs.once_for_all,
           "Line {line}: `{name}` calls this function once, to build the graph, so `{what}` happens once and not in "
           "each run. Use an op (`tf.random_uniform`, `tf.Print`, a loop variable), or `tf.py_func`.",
           "02_graphs_names_collections#Nothing is computed yet", failed=False),
    Lesson("printed-tensor", programs.printed_tensor,
           "Line {line} prints the tensor `{name}`, not its value: fetch it in the run and print what comes back.",
           "03_sessions_feeds#Fetching several things at once", failed=False),
    Lesson("cut-feed", programs.cut_feed,
           "`{name}` holds {kind} with fractions, and `{key}` takes {dtype}: the fractions were cut off. Make the "
           "placeholder of a float dtype, or round on purpose.",
           "03_sessions_feeds#When a feed does not fit", failed=False),
    Lesson("softmax-twice", graphs.softmax_twice,
           "{what} has been through {function} already, and the cross entropy applies {function} itself: the "
           "gradient nearly vanishes. Pass {logits} instead.",
           "01_first_graph#A network with a hidden layer", failed=False),
    Lesson("log-of-softmax", graphs.log_of_softmax,
           "`{bad}` is not finite: the logarithm of {function} is minus infinity as soon as a probability underflows "
           "to 0. `tf.nn.log_softmax` computes the same without that.",
           "11_debugging_nans#The repair that does", failed=False),
    Lesson("negative-rate", graphs.negative_rate,
           "The learning rate is {rate}: below zero the optimizer goes uphill. To maximize a value, minimize its "
           "negative with a positive rate.", "05_gradients_optimizers#Downhill by hand", failed=False),
    Lesson("argmax-over-batch", graphs.argmax_over_batch,
           "`argmax` is taken over axis 0, that of the batch, so it compares examples, not classes: the class of each "
           "row is `{tf}.argmax(logits, 1)`.", "01_first_graph#Which ones does it get wrong?", failed=False),
)
