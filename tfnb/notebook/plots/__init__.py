"""Live plots and trainings: recorder, boards, panels, the training thread."""
