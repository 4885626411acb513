"""What pytest leaves alone here: the settings of Sphinx and all that Sphinx makes."""

collect_ignore = ["_build", "_extensions", "api", "conf.py", "gallery"]
