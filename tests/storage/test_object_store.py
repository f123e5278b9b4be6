"""Scans objects of a local S3 endpoint (moto's server) and compares with the same files on disk."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import boto3
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}


class ObjectStore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            cls.port = probe.getsockname()[1]
        server = Path(sys.executable).parent / "moto_server"
        cls.server = subprocess.Popen([str(server), "-H", "127.0.0.1", "-p", str(cls.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.stop_server)
        cls.client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{cls.port}", aws_access_key_id="testing", aws_secret_access_key="testing", region_name="us-east-1")
        for _ in range(300):
            try:
                cls.client.create_bucket(Bucket="lake")
                break
            except Exception:  # the server is still starting
                time.sleep(0.1)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.local = Path(cls.folder.name)
        for month in (1, 2):
            table = pa.table({"id": pa.array(range(month * 1000, month * 1000 + 20_000), pa.int64()), "word": [f"w{i % 50}" for i in range(20_000)]})
            place = cls.local / f"month={month}"
            place.mkdir()
            pq.write_table(table, place / "data.parquet", row_group_size=5_000, write_page_index=True)
            cls.client.upload_file(str(place / "data.parquet"), "lake", f"events/month={month}/data.parquet")
        cls.options = f"?endpoint_override=127.0.0.1:{cls.port}&scheme=http&region=us-east-1"

    @classmethod
    def stop_server(cls):
        cls.server.terminate()
        cls.server.wait()

    def scan(self, path, *words):
        return pistachio.scan(f"s3://lake/{path}{self.options}", *words, environment=CREDENTIALS)

    def test_object_folder_and_glob_equal_local_files(self):
        local = pistachio.scan(self.local)
        for path in ("events", "events/month=*/*.parquet"):
            answer = self.scan(path)
            self.assertEqual(answer["columns"], local["columns"], path)
            self.assertEqual(answer["files"], 2)
        self.assertEqual(self.scan("events/month=1/data.parquet")["rows"], 20_000)

    def test_filters_save_reads(self):
        all_rows = self.scan("events")
        some = self.scan("events", "--where", "id < 1500", "--columns", "id,word")
        self.assertEqual(some["rows"], 500)
        self.assertLess(some["bytes_read"], all_rows["bytes_read"] / 2)

    def test_missing_objects_and_buckets_are_errors(self):
        for path, part in ((f"s3://lake/none.parquet{self.options}", "none.parquet"), (f"s3://nobucket/x.parquet{self.options}", "nobucket")):
            done = pistachio.run("scan", path, environment=CREDENTIALS)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(part, done.stderr)

    def test_interrupt_ends_scan_of_unresponsive_store(self):
        with socket.socket() as store:
            store.bind(("127.0.0.1", 0))
            store.listen()
            place = f"s3://lake/x.parquet?endpoint_override=127.0.0.1:{store.getsockname()[1]}&scheme=http&region=us-east-1"
            for words in (("scan", place), ("-c", f"SELECT * FROM '{place}'")):
                process = subprocess.Popen([str(pistachio.BINARY), *words], env=os.environ | CREDENTIALS, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                connection, _ = store.accept()
                with connection:
                    process.send_signal(signal.SIGINT)
                    _, errors = process.communicate()
                self.assertEqual(process.returncode, 130, errors)


if __name__ == "__main__":
    unittest.main()
