"""Colors, crops and resizing of images."""
