"""Names, registration and prompts of our datasets inside VLMEvalKit."""

from __future__ import annotations

import ast
import os
import tempfile
from pathlib import Path

from checking import check, dataset, raises


@check
def every_task_has_a_dataset_that_the_harness_builds():
    import vlmeval.dataset as harness

    from geoeval.benchmarks import benchmark_names
    from geoeval.runs.vlmevalkit import dataset_name

    for task in benchmark_names():
        built = harness.build_dataset(dataset_name(task))
        assert built.task == task
        assert len(built) > 0
        assert harness.DATASET_TYPE(dataset_name(task)) == "GeoEval"
        assert harness.DATASET_MODALITY(dataset_name(task)) == "IMAGE"


@check
def registering_twice_changes_nothing():
    import vlmeval.dataset as harness

    from geoeval.harness.vlmevalkit.plugin import register

    before = len(harness.DATASET_CLASSES), len(harness.SUPPORTED_DATASETS)
    register()
    assert (len(harness.DATASET_CLASSES), len(harness.SUPPORTED_DATASETS)) == before


@check
def a_name_of_ours_that_is_taken_is_an_error():
    import vlmeval.dataset as harness

    from geoeval.harness.vlmevalkit.dataset import GeoEvalDataset
    from geoeval.harness.vlmevalkit.plugin import register

    harness.DATASET_CLASSES.remove(GeoEvalDataset)
    del harness.GeoEvalDataset
    names = [name for name in harness.SUPPORTED_DATASETS if name in GeoEvalDataset.supported_datasets()]
    for name in names[1:]:
        harness.SUPPORTED_DATASETS.remove(name)
    try:
        raises(RuntimeError, register, match=names[0])
    finally:
        harness.SUPPORTED_DATASETS.remove(names[0])
        register()


@check
def no_model_or_runner_of_the_harness_looks_for_a_part_of_our_names():
    import vlmeval

    from geoeval.harness.vlmevalkit.dataset import GeoEvalDataset

    found = set()
    for file in Path(vlmeval.__path__[0]).rglob("*.py"):
        if "dataset" in file.parts:  # what a dataset class looks for in its own name
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "listinstr" and len(node.args) == 2:
                where = ast.unparse(node.args[1])
                texts = getattr(node.args[0], "elts", [])
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
                where, texts = ast.unparse(node.comparators[0]), [node.left]
            else:
                continue
            if "dataset" in where.lower():
                words = [text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)]
                names = [GeoEvalDataset.TYPE] if "TYPE" in where else GeoEvalDataset.supported_datasets()
                names = [name.lower() for name in names] if "lower" in where else names
                found.update((word, file.name) for word in words for name in names if word and word in name)
    assert not found, found


@check
def a_dataset_does_not_take_the_files_of_one_whose_name_begins_alike():
    from vlmeval.smp.file import fetch_aux_files, find_prediction_files

    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "m"
        folder.mkdir()
        names = ("GeoRefusalBench", "GeoRefusalBench_A", "LithoBench_OPEN", "LithoBench_OPEN_ID")
        for name in names:
            for end in (".tsv", "_score.geoeval.json", "_checkpoint.pkl"):
                (folder / f"m_{name}{end}").write_text("x")
        for name in names:
            assert find_prediction_files(str(folder), "m", name) == [str(folder / f"m_{name}.tsv")]
            found = {Path(file).name for file in fetch_aux_files(str(folder / f"m_{name}.tsv"))}
            assert found == {f"m_{name}.tsv", f"m_{name}_score.geoeval.json", f"m_{name}_checkpoint.pkl"}, found


@check
def every_prompt_is_the_benchmarks_own_in_its_order():
    from PIL import Image

    from geoeval.benchmarks import get_benchmark
    from geoeval.data import locate, open_picture, task_items
    from geoeval.runs.vlmevalkit import dataset_name

    settings = ("forge_assyveri_icd", "forge_workveri_ref_cond", "forge_surfinsp_text")
    for task in (*settings, "georefusal_jpeg95", "lithobench_mcq_id"):
        benchmark, built = get_benchmark(task), dataset(dataset_name(task))
        for k, item in enumerate(task_items(task, locate(benchmark.dataset))):
            (message,) = benchmark.prompt(item)
            for line in (k, built[k], built.data.iloc[k]):
                prompt = built.build_prompt(line)
                assert [part["type"] for part in prompt] == [part["type"] for part in message["content"]]
                for shown, part in zip(prompt, message["content"], strict=True):
                    if part["type"] == "text":
                        assert shown["value"] == part["text"]
                    elif k < 3:
                        with Image.open(shown["value"]) as image:
                            assert (image.mode, image.info) == ("RGB", {})
                            assert image.tobytes() == open_picture(part["image"]).tobytes()
            assert not any("role" in part for part in prompt)
            assert built.dump_image(built[k]) == prompt.pictures


@check
def gold_is_in_nothing_that_a_model_or_the_prediction_file_gets():
    built = dataset("LithoBench_OPEN")
    assert set(built.data.columns) == {"index", "question", "image_path", "geoeval"}


@check
def a_picture_is_written_once_and_whole():
    from geoeval.harness.vlmevalkit import rows
    from geoeval.harness.vlmevalkit.rows import picture_file
    from geoeval.types import AsJpeg

    with tempfile.TemporaryDirectory() as root:
        from PIL import Image

        source = Path(root) / "a.png"
        Image.effect_noise((64, 64), 50).convert("P").save(source)
        content = {"bytes": source.read_bytes(), "path": "a.png"}
        first = picture_file(content, Path(root) / "kept")
        stamp = first.stat().st_mtime_ns
        assert picture_file(str(source), Path(root) / "kept") == first
        assert first.stat().st_mtime_ns == stamp
        assert picture_file(AsJpeg(content, 95), Path(root) / "kept") != first
        assert len(list((Path(root) / "kept").iterdir())) == 2
        rows._FORM, before = b"2 ", rows._FORM
        try:
            assert picture_file(content, Path(root) / "kept") != first  # not what an older geoeval made of it
        finally:
            rows._FORM = before


@check
def broken_data_stops_before_the_first_request():
    import pyarrow as pa
    import pyarrow.parquet as pq

    from geoeval.data import DataError, locate

    table = pq.read_table(locate("georefusal", "sample").path)
    rows = table.to_pylist()[:3]
    rows[1]["images"] = [{"bytes": b"no picture", "path": "x.png"}]
    rows[2]["id"] = rows[0]["id"]
    with tempfile.TemporaryDirectory() as root:
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), Path(root) / "georefusal.parquet")
        os.environ["GEOEVAL_DATA"] = root
        try:
            raises(DataError, dataset, match="2 things to mend before any request is made")
        finally:
            os.environ["GEOEVAL_DATA"] = "sample"
