#!/usr/bin/env python3
"""Checks JSON documents against a JSON Schema: check_schema.py SCHEMA DOCUMENT... (Debian: python3-jsonschema)."""
import json
import sys

import jsonschema


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    bad = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        for error in list(validator.iter_errors(document))[:5]:
            print(f"{path}: {error.json_path}: {error.message[:300]}")
            bad = 1
    return bad


sys.exit(main())
