"""`timeline` and `device_lib`."""
