"""Objects that someone else may have put into the cache are not loaded: they are code."""
import os

import pytest

from tfnb.core.options import options
from tfnb.kernels.llvm import objects

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are POSIX")
OTHER = 65534


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of kernels, with one object in it."""
    monkeypatch.setattr(options, "cache_dir", tmp_path / "tfnb")
    assert objects.save("k", b"payload")
    assert objects.load("k") == b"payload"
    return tmp_path / "tfnb" / "kernels"


def ignored(key="k"):
    return objects.load(key) is None


def test_folders_are_made_for_the_user_alone(cache):
    before = os.umask(0)
    try:
        assert objects.save("other", b"x")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (cache.parent, cache)] == [0o700, 0o700]
    assert {path.stat().st_mode & 0o777 for path in cache.iterdir()} == {0o600}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o720, 0o1777])
@pytest.mark.parametrize("folder", ["kernels", "."])
def test_a_folder_that_others_can_write_to(cache, mode, folder):
    (cache.parent / folder).chmod(mode)
    if mode == 0o1777 and folder == ".":                # as /tmp: who owns an entry alone can rename it
        assert objects.load("k") == b"payload" and objects.save("new", b"x")
        return
    assert ignored()
    assert objects.save("new", b"x") is False
    assert [path.name for path in cache.iterdir()] == ["k" + objects.SUFFIX]
    (cache.parent / folder).chmod(0o700)
    assert objects.load("k") == b"payload"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("what", ["file", "folder", "root"])
def test_what_another_user_owns(cache, what):
    path = {"file": cache / ("k" + objects.SUFFIX), "folder": cache, "root": cache.parent}[what]
    os.chown(path, OTHER, OTHER)
    assert ignored()
    assert objects.save("k", b"payload") is (what == "file")        # its place is taken by our own
    os.chown(path, 0, 0)
    assert objects.load("k") == b"payload"


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
def test_a_file_that_others_can_write_to(cache, mode):
    (cache / ("k" + objects.SUFFIX)).chmod(mode)
    assert ignored()


def test_links_and_pipes(cache, tmp_path):
    path = cache / ("k" + objects.SUFFIX)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert ignored()
    path.unlink()
    os.mkfifo(path, 0o600)                              # with nobody at the other end
    assert ignored()
    assert objects.save("k", b"payload") and objects.load("k") == b"payload"


def test_a_folder_that_is_a_link_to_one_of_another_user(cache, tmp_path):
    cache.rename(tmp_path / "moved")
    cache.symlink_to(tmp_path / "moved")
    assert objects.load("k") == b"payload"              # a link of the user's own, such as to a larger disk
    (tmp_path / "moved").chmod(0o777)
    assert ignored()


def test_a_folder_exchanged_after_the_look(cache, monkeypatch, tmp_path):
    """The file is opened in the folder that was checked, not in the one that has its name by then."""
    foreign = tmp_path / "foreign"
    foreign.mkdir(0o777)
    foreign.chmod(0o777)
    (cache / ("k" + objects.SUFFIX)).rename(foreign / ("k" + objects.SUFFIX))
    check = objects._check_folders

    def exchanged(place):
        check(place)
        cache.rename(tmp_path / "own")
        foreign.rename(cache)
    monkeypatch.setattr(objects, "_check_folders", exchanged)
    assert ignored()
