"""The graph editor of `tf.contrib`: selections and views of a graph, their rerouting, copies and transformations."""
