from __future__ import annotations

import gzip
import re
import struct
import zlib

import pytest

from tfnb.core.errors import DataLossError, NotFoundError
from tfnb.proto.records import RecordWriter, frame, masked_crc, read_records

RECORDS = [b"", b"one", bytes(range(256)) * 5000]
PACKED = ["", "GZIP", "ZLIB"]


def write(path, compression="", records=RECORDS):
    with RecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    return path


def test_masked_crc_of_the_standard_check_string():
    crc = 0xE3069283  # CRC-32C of "123456789", from its definition (RFC 3720)
    assert masked_crc(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32


def test_framing_by_hand():
    assert frame(b"ab") == (struct.pack("<QI", 2, masked_crc(struct.pack("<Q", 2))) + b"ab"
                            + struct.pack("<I", masked_crc(b"ab")))


@pytest.mark.parametrize("compression", PACKED)
def test_what_is_written_is_read(tmp_path, compression):
    assert list(read_records(write(tmp_path / "r", compression), compression)) == RECORDS


@pytest.mark.parametrize("compression", PACKED)
def test_flushed_records_can_be_read_while_the_file_grows(tmp_path, compression):
    writer = RecordWriter(tmp_path / "r", compression)
    writer.write(b"one")
    writer.flush()
    assert list(read_records(tmp_path / "r", compression, partial=True)) == [b"one"]
    writer.close()
    writer.close()


@pytest.mark.parametrize("compression", PACKED)
def test_a_file_cut_off_loses_its_last_record_only(tmp_path, compression):
    path = write(tmp_path / "r", compression, [b"one", b"two" * 40000, b"three"])
    path.write_bytes(path.read_bytes()[:-14 if compression else -5])
    assert list(read_records(path, compression, partial=True)) == [b"one", b"two" * 40000]
    with pytest.raises(DataLossError, match="truncated record at 120035"):
        list(read_records(path, compression))


@pytest.mark.parametrize("place, message", [(3, "corrupted record at 0 "), (9, "corrupted record at 0 "),
                                            (13, "corrupted record at 12 "), (16, "corrupted record at 12 ")])
def test_a_flipped_byte_is_found(tmp_path, place, message):
    path = write(tmp_path / "r", records=[b"one"])
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataLossError, match=message):
        list(read_records(path, partial=True))


def test_a_false_length_takes_no_memory(tmp_path):
    length = struct.pack("<Q", 1 << 60)
    (tmp_path / "r").write_bytes(length + struct.pack("<I", masked_crc(length)) + b"abc")
    with pytest.raises(DataLossError, match="truncated record at 0"):
        list(read_records(tmp_path / "r"))


def test_several_gzip_members(tmp_path):
    (tmp_path / "r").write_bytes(gzip.compress(frame(b"one")) + gzip.compress(frame(b"two")))
    assert list(read_records(tmp_path / "r", "GZIP")) == [b"one", b"two"]


def test_a_container_that_ends_in_its_header(tmp_path):
    """One changed bit says that 24,672 bytes of a further field come first: it read as an empty file."""
    damaged = bytearray(write(tmp_path / "r", "GZIP").read_bytes())
    damaged[3] ^= 4
    for data in (bytes(damaged), bytes(damaged[:10])):
        (tmp_path / "r").write_bytes(data)
        with pytest.raises(DataLossError, match=re.escape(str(tmp_path / "r"))):
            list(read_records(tmp_path / "r", "GZIP"))
    (tmp_path / "r").write_bytes(b"")
    assert list(read_records(tmp_path / "r", "GZIP")) == []


def test_wrong_arguments(tmp_path):
    with pytest.raises(NotFoundError, match="none; No such file"):
        list(read_records(tmp_path / "none"))
    with pytest.raises(ValueError, match="not 'LZ4'"):
        RecordWriter(tmp_path / "r", "LZ4")
    write(tmp_path / "plain")
    with pytest.raises(DataLossError, match="can't be decompressed"):
        list(read_records(tmp_path / "plain", "ZLIB"))
    write(tmp_path / "packed", "GZIP")
    with pytest.raises(DataLossError, match="compressed as it was said"):
        list(read_records(tmp_path / "packed"))
    assert zlib.decompress(write(tmp_path / "z", "ZLIB", [b"x"]).read_bytes()) == frame(b"x")


@pytest.mark.parametrize("compression", PACKED)
def test_tensorflow_reads_ours_and_we_read_its(oracle, tmp_path, compression):
    ours, theirs = write(tmp_path / "ours", compression), tmp_path / "theirs"
    found = oracle("""
options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, compression or "NONE"))
result = list(tf.python_io.tf_record_iterator(ours, options))
with tf.python_io.TFRecordWriter(theirs, options) as writer:
    for record in result:
        writer.write(record)
""", ours=str(ours), theirs=str(theirs), compression=compression)
    assert found == RECORDS
    assert list(read_records(theirs, compression)) == RECORDS
