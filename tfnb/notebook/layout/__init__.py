"""Layout of drawings: from scenes of sized nodes to places and routes."""
