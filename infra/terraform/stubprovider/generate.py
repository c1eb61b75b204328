#!/usr/bin/env python3
"""Writes schema.json: names, types and required flags of what the modules use.

usage: generate.py FOLDER >schema.json

FOLDER is where `npm pack @cdktf/provider-aws@21.22.1` was unpacked: bindings
that are generated from the real provider's schema, which itself cannot be had
as a package. The types that are read are those that the .tf files name.
"""
import json
import pathlib
import re
import sys

package = pathlib.Path(sys.argv[1])
here = pathlib.Path(__file__).resolve().parent
PREFIX = "@cdktf/provider-aws."
BLOCK, ONE = "block", "one"
# How these bindings tell a resource from its arguments.
META = {"count", "forEach", "lifecycle", "provider", "dependsOn", "connection", "provisioners"}


def wanted():
    found = set()
    for file in here.parent.rglob("*.tf"):
        for kind, name in re.findall(r'^(resource|data) "(aws_\w+)"', file.read_text(), re.M):
            found.add(("data." if kind == "data" else "") + name)
    return sorted(found)


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def camel(name):
    return re.sub(r"_(\w)", lambda m: m[1].upper(), name)


def argument(prop):
    """The name of an argument, which the documentation of a property links to."""
    named = re.search(r"#(\w+)\}", prop.get("docs", {}).get("remarks", ""))
    return named[1] if named else snake(prop["name"])


def plain(t):
    """The type without the alternative that stands for a value that is not known yet."""
    if "union" in t:
        return next(x for x in t["union"]["types"] if x.get("fqn") != "cdktf.IResolvable")
    return t


def collections(source):
    """Whether an argument is a list or a set: struct -> argument -> kind."""
    out = {}
    for body in re.split(r"\nfunction |\n    synthesizeHclAttributes\(\)", source)[1:]:
        struct = re.match(r"(\w+)ToHclTerraform\(", body)
        name = struct[1].lower() if struct else ""
        if struct or body.startswith(" {"):
            out.setdefault(name, dict(re.findall(r'\n\s+(\w+): \{\n\s+value: .*\n\s+isBlock: \w+,\n\s+type: "(list|set)"', body)))
    return out


class Reader:
    def __init__(self, types, kinds):
        self.types, self.kinds = types, kinds

    def type(self, t, kind="list"):
        t = plain(t)
        if "primitive" in t:
            return {"string": "string", "number": "number", "boolean": "bool"}.get(t["primitive"], "dynamic")
        if "collection" in t:
            element = self.type(t["collection"]["elementtype"])
            return ["map" if t["collection"]["kind"] == "map" else kind, element]
        return "bool" if t.get("fqn") == "cdktf.IResolvable" else "dynamic"

    def block(self, fqn, top=False):
        out = {"attributes": {}, "blocks": {}}
        kinds = self.kinds.get("" if top else fqn.split(".")[-1].lower(), {})
        for prop in self.types[fqn].get("properties", []):
            if top and prop["name"] in META:
                continue
            name, required = argument(prop), not prop.get("optional")
            t, single = plain(prop["type"]), True
            if "collection" in t and t["collection"]["kind"] == "array":
                t, single = plain(t["collection"]["elementtype"]), False
            if t.get("fqn", "").startswith(PREFIX):
                nesting = "single" if name == "timeouts" else kinds.get(name, "list")
                out["blocks"][name] = {"nesting": nesting, "one": single, "required": required, "block": self.block(t["fqn"])}
            else:
                out["attributes"][name] = {"type": self.type(prop["type"], kinds.get(name, "list")), "required": required, "optional": not required}
        return out

    def resource(self, kind, fqn):
        out = self.block(fqn + "Config", top=True)
        for prop in self.types[fqn]["properties"]:
            name = snake(prop["name"])
            exported = prop.get("immutable") and not prop.get("static") and not prop["name"].endswith("Input")
            if exported and name not in out["attributes"] and name not in out["blocks"]:
                out["attributes"][name] = {"type": self.type(prop["type"]), "computed": True}
        for attribute in out["attributes"].values():
            if attribute.get("optional"):
                attribute["computed"] = True
        return out


types = json.loads((package / ".jsii").read_text())["types"]
schema = {}
for resource in wanted():
    kind, _, name = resource.rpartition(".")
    short = name.removeprefix("aws_")
    module = camel("data_aws_" + short if kind else short)
    folder = ("data-aws-" if kind else "") + short.replace("_", "-")
    source = (package / "lib" / folder / "index.js").read_text()
    for more in (package / "lib" / folder).glob("index-structs/*.js"):
        source += "\n" + more.read_text()
    fqn = f"{PREFIX}{module}.{module[0].upper()}{module[1:]}"
    if fqn + "Config" not in types:
        fqn += "A" # where the name would be that of its own arguments
    schema[resource] = Reader(types, collections(source)).resource(kind, fqn)
json.dump(schema, sys.stdout, indent=1, sort_keys=True)
print()
