"""``python -m geoeval.harness.lm_eval``: prints the folder of the task YAMLs, for ``lm_eval --include_path``."""

from geoeval.harness.lm_eval.adapter import tasks_dir

if __name__ == "__main__":
    print(tasks_dir())
