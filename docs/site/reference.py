#!/usr/bin/env python3
"""Writes the generated parts of docs/reference, and checks that they and the pages name everything that is public.

    docs/site/reference.py            prints what differs or is missing, and fails then
    docs/site/reference.py --write    writes the generated parts

A generated part stands between <!-- generated: NAME --> and <!-- end -->. Its sources are the code: the list of meters
(Meter.java), the published components of records (@Figure), the MBeans' descriptions (Described.java), the list of settings (Setting.java), the help of the command line,
mallometer.h, recording_format.h, and the Javadoc of public types. The starter and the agent have to be built. What is public is in
docs/public-names.txt, which tests of each module compare with what running services show.
"""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = REPOSITORY / "docs/reference"
CORE = REPOSITORY / "metrics-bridge/core/src/main/java/io/mallometer"
METADATA = REPOSITORY / "spring-starter/target/classes/META-INF/spring-configuration-metadata.json"
HEADER = REPOSITORY / "interposer/include/mallometer.h"
RECORDING = REPOSITORY / "interposer/src/control/recording_format.h"
PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.S)
LITERALS = r'((?:\s*\+?\s*"(?:[^"\\]|\\.)*")+)'
IN_SOME_STATES = " (in some states)"


class Missing(Exception):
    """A source that was not built, or a name without a description."""


def read(path):
    return path.read_text(encoding="utf-8")


def public(section):
    """The lines of a section of docs/public-names.txt, without their marks."""
    text = read(REPOSITORY / "docs/public-names.txt").split(f"[{section}]\n", 1)[1].split("\n\n", 1)[0]
    return [line.removesuffix(IN_SOME_STATES) for line in text.splitlines()]


def joined(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def cell(text):
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|").replace("<", "&lt;")


def table(heads, rows):
    return "\n".join(["", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *("| " + " | ".join(row) + " |" for row in rows), "", ""])


def run_with_core(program):
    """The JSON that a Java program prints about the classes of the core."""
    classes = REPOSITORY / "metrics-bridge/core/target/classes"
    if not classes.exists():
        raise Missing(f"build the bridge first: {classes.relative_to(REPOSITORY)} is missing")
    run = [java(), "-cp", str(classes), f"docs/site/{program}"]
    return json.loads(subprocess.run(run, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True).stdout)


@functools.cache
def meters():
    """The rows of the list of meters, Meter.java, with their components' meanings and units."""
    return run_with_core("Meters.java")


def series_name(meter, kind, unit):
    name = meter.replace(".", "_")
    if unit and not name.endswith("_" + unit):
        name += "_" + unit
    return name + "_total" if kind == "counter" else name


def tags_of(series):
    """The labels that each series has, with their values where these are fixed."""
    tags = {}
    for line in series:
        name, labels, _ = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\w+)", line).groups()
        of_name = tags.setdefault(name, {})
        for key, value in re.findall(r'(\w+)="([^"]*)"', labels or ""):
            of_name.setdefault(key, [])
            if value not in of_name[key]:
                of_name[key].append(value)
    return tags


def metrics():
    tags = tags_of(public("series"))
    shown = {}
    for each in meters():
        if each["name"]:
            shown[series_name(each["name"], each["type"], each["unit"])] = (each["type"], each["name"], each["meaning"])
    rows = []
    for name in sorted(shown):
        kind, meter, description = shown[name]
        labels = tags.pop(name, None)
        for suffix in ("_bucket", "_count", "_sum") if kind == "histogram" else ():
            labels = tags.pop(name + suffix, {}) | (labels or {})
        if labels is None:
            raise Missing(f"{name} is a meter, and docs/public-names.txt does not know the series")
        text = ", ".join(
            f"`{key}`" + ("" if "*" in values else ": " + ", ".join(f"`{value}`" if value else "none" for value in values))
            for key, values in sorted(labels.items())
        )
        rows.append((f"`{name}`", kind, text, cell(description), f"`{meter}`"))
    if tags:
        raise Missing(f"series without a meter: {', '.join(sorted(tags))}")
    return table(("series", "type", "labels", "meaning", "meter"), rows)


def mbeans():
    described = {}
    source = read(CORE / "jmx/Described.java")
    for bean, body in re.findall(r"interface Of(\w+) \{(.*?)\n  \}\n", source, re.S):
        for text, name in re.findall(r"@Description\((?:\s*value =)?" + LITERALS + r"(?:,\s*rows = [\w.]+)?\)\s+(?:@\w+(?:\([^)]*\))?\s+)*[\w<>?, .\[\]@]+? (\w+)\(", body):
            described[bean, re.sub(r"^(get|is)(?=[A-Z])", "", name)] = joined(text)
    for each in meters():
        if "attribute" in each:
            described[each["bean"], each["attribute"]] = each["meaning"]
    rows, lacking = {}, []
    for line in public("MBeans"):
        bean, name, kind = re.fullmatch(r"io\.mallometer:type=(\w+) (.+?)(?:: (\S+))?", line).groups()
        if name.startswith("notification "):
            rows[bean, name] = (f"`{bean}`", f"notification `{name.split()[1]}`", "", "Sent once for each event")
            continue
        top = re.match(r"\w+", name)[0]
        fields = re.sub(r"^\w+(\(.*?\))?(\[\]|\{\})?\.?", "", name)
        signature = re.search(r"\(.*?\)", name)
        row = rows.setdefault((bean, top), [f"`{bean}`", f"`{top}{signature[0] if signature else ''}`", "", ""])
        if isinstance(row, list):
            if not fields:
                row[2] = cell(kind or "")
            else:
                row[2] = (row[2] + ", " if row[2] else "") + f"`{fields}`"
        row[3] = cell(described.get((bean, top)) or described.get((bean, top[0].upper() + top[1:])) or described.get(("Each", top), ""))
        if not row[3] and (bean, top) not in lacking:
            lacking.append((bean, top))
    if lacking:
        raise Missing("no description of " + ", ".join(f"{bean}.{name}" for bean, name in lacking))
    return table(("MBean", "attribute or operation", "type, or fields", "meaning"), [tuple(rows[key]) for key in sorted(rows)])


@functools.cache
def all_settings():
    """The rows of the list of settings, Setting.java."""
    return run_with_core("Settings.java")


READERS = {"ALL": "starter, agent", "STARTER": "starter", "AGENT": "agent", "LIBRARY": "variable only", "COMMANDS": "variable only"}


def figures():
    """The record, name, unit and meaning of each component that the code publishes."""
    for path in sorted([*(CORE / "model").glob("*.java"), *(CORE / "view").glob("*.java")]):
        source = read(path)
        for found in re.finditer(r"@Figure\((?:\s*value =)?" + LITERALS + r"([^()]*)\)", source):
            record = re.findall(r"^ *public record (\w+)", source[: found.start()], re.M)[-1]
            unit = re.search(r"unit = (?:Figure\.Unit\.)?(\w+)", found[2])
            name = re.match(r"\s*(?:public )?[\w.<>?@, \[\]]+?\s(\w+)\s*[,()]", source[found.end() :])[1]
            yield record, name, unit[1].lower().replace("_", " ") if unit else "", joined(found[1]), "inline = true" in found[2]


def json_fields():
    kinds = dict((record, name) for name, record in re.findall(r'Map\.entry\("([^"]+)", ([\w.]+)\.class\)', read(CORE / "view/Views.java")))
    rows = [
        (f"`{record}`" + (f" (`{kinds[record]}`)" if record in kinds else ""), f"`{name}`" + (" (its fields)" if inline else ""), unit, cell(meaning))
        for record, name, unit, meaning, inline in figures()
    ]
    return table(("object (answer of)", "field", "unit", "meaning"), sorted(rows))


def settings():
    if not METADATA.exists():
        raise Missing(f"build the starter first: {METADATA.relative_to(REPOSITORY)} is missing")
    rows = [row("name", each, READERS[each["reader"]]) for each in all_settings()]
    for each in json.loads(read(METADATA))["properties"]:
        if not each["name"].startswith("mallometer."):
            values = each["type"].rsplit(".", 1)[-1].lower()
            default = str(each.get("defaultValue", "none")).lower()
            rows.append((f"`{each['name']}`", "Spring Boot", values, f"`{default}`", cell(each.get("description", ""))))
    return table(("setting", "read by", "values", "default", "meaning"), rows)


def row(kind, setting, *more):
    default = f"`{setting['default']}`" if setting["default"] else "none"
    return (f"`{setting[kind]}`", *more, cell(setting["values"]), default, cell(setting["meaning"]))


def settings_of(kind, chosen):
    head = "setting" if kind == "name" else kind
    return table((head, "values", "default", "meaning"), [row(kind, each) for each in all_settings() if each[kind] and chosen(each)])


def agent_options():
    return settings_of("option", lambda each: not each["name"].startswith(("push.", "otlp.")))


def push_options():
    return settings_of("name", lambda each: each["name"].startswith("push."))


def otlp_options():
    return settings_of("option", lambda each: each["name"].startswith("otlp."))


def variables():
    return settings_of("variable", lambda each: each["library"])


def java():
    return os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"


def help_of(command):
    if not (REPOSITORY / "metrics-bridge/agent/target/mallometer-agent.jar").exists():
        raise Missing("build the agent first: metrics-bridge/agent/target/mallometer-agent.jar is missing")
    run = [java(), "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-jar", "metrics-bridge/agent/target/mallometer-agent.jar", *command, "--help"]
    return subprocess.run(run, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\nExit codes:\n", 1)


def exit_codes():
    listed = re.sub(r"\n {8,}", " ", help_of([])[1])
    return table(("code", "meaning"), re.findall(r"^ +(\S+) +(.+)$", listed, re.M))


def commands():
    names = [line.split()[1:] for line in public("commands") if " -" not in line]
    with concurrent.futures.ThreadPoolExecutor(2) as together:
        texts = [text for text, _ in together.map(help_of, names)]
    parts = [f"\n### {' '.join(['mallometer', *name])}\n\n```text\n{text.rstrip()}\n```\n" for name, text in zip(names, texts, strict=True)]
    return "".join(parts) + "\n"


def first_sentence(comment):
    text = re.sub(r"\{@\w+ ([^}]*)\}", r"\1", re.sub(r"\n?\s*\*\s?", " ", comment))
    text = re.split(r"<p>|\s@\w|<pre>|<ul>", text, maxsplit=1)[0]
    return re.split(r"(?<=\.)\s", re.sub(r"<[^>]*>", "", text).strip(), maxsplit=1)[0].removesuffix(":")


def java_api():
    rows = []
    modules = [CORE, REPOSITORY / "testing/junit/src/main/java/io/mallometer/junit", REPOSITORY / "testing/jmh/src/main/java/io/mallometer/jmh"]
    modules += [REPOSITORY / "spring-starter/src/main/java/io/mallometer/spring"]
    for module in modules:
        for path in sorted(module.rglob("*.java")):
            if "internal" in path.relative_to(module).parts or path.name == "package-info.java":
                continue
            match = re.search(
                r"/\*\*((?:(?!\*/).)*)\*/\s*(?:@\w+(?:\((?:[^()]|\([^()]*\))*\))?\s*)*"
                r"public (?:(?:abstract|final|sealed|non-sealed) )*(class|record|interface|enum|@interface) (\w+)",
                read(path),
                re.S,
            )
            if match:
                package = str(path.parent.relative_to(next(p for p in path.parents if p.name == "java"))).replace("/", ".")
                rows.append((package, f"`{match[3]}`", match[2], cell(first_sentence(match[1]))))
    return table(("package", "type", "kind", "what it is"), [(f"`{package}`", *rest) for package, *rest in rows])


def c_api():
    text = read(HEADER) + read(HEADER.with_name("mallometer_optional.h"))
    rows = []
    for comment, declaration in re.findall(
        r"/\*((?:(?!\*/).)*)\*/\n(?:MALLOMETER_API|static inline) ([^;{]*?)\s*[;{]", text, re.S
    ):
        rows.append((f"`{cell(declaration)}`", cell(re.sub(r"\n \*", " ", comment))))
    named = " ".join(row[0] for row in rows)
    lacking = [n for n in re.findall(r"\b(mallometer_\w+)\(", " ".join(public("functions of the library"))) if n + "(" not in named]
    for name in list(lacking):
        if re.search(rf"\b{name}\(", text):
            declared = re.search(rf"(?:MALLOMETER_API|static inline) ([^;{{]*\b{name}\([^;{{]*?)\s*[;{{]", text)
            if declared:
                rows.append((f"`{cell(declared[1])}`", "As its neighbour in the header"))
                lacking.remove(name)
    if lacking:
        raise Missing(f"functions that mallometer.h does not describe: {', '.join(lacking)}")
    return table(("function", "meaning"), rows)


def recording_layout():
    """The fields of each struct of a recording. GenerateAbi.java refuses a struct with padding, so offsets are sums."""
    rows, sizes = [], {"char": 1, "uint32_t": 4, "uint64_t": 8}
    text = read(RECORDING)
    lengths = dict(re.findall(r"^#define (RECORDING_\w+) (\d+)", text, re.M))
    for struct, body in re.findall(r"^struct (recording_\w+) {(.*?)^};", text, re.M | re.S):
        offset = 0
        for comment, kind, name, length in re.findall(r"(?:/\*((?:(?!\*/).)*)\*/\s*)?(?:struct )?(\w+) (\w+)(?:\[(\w+)\])?;", body, re.S):
            bytes_ = sizes[kind] * int(lengths.get(length, length or 1))
            rows.append((f"`{struct}`", f"`{name}`", str(offset), str(bytes_), cell(re.sub(r"\n *\*", " ", comment))))
            offset += bytes_
        sizes[struct] = offset
    return table(("struct", "field", "offset", "bytes", "meaning"), rows)


PARTS = {
    "metrics": metrics,
    "mbeans": mbeans,
    "json": json_fields,
    "settings": settings,
    "agent-options": agent_options,
    "push-options": push_options,
    "otlp-options": otlp_options,
    "variables": variables,
    "commands": commands,
    "exit-codes": exit_codes,
    "java-api": java_api,
    "c-api": c_api,
    "recording-layout": recording_layout,
}

# Where the names of a section have to stand, and what of a line is the name.
NAMED = {
    "series": ("metrics.md", r"\w+?(?=(?:_bucket|_count|_sum)?[{ ])"),
    "series of the starter": ("metrics.md", r"\w+?(?=(?:_count|_max|_sum)?[{ ])"),
    "series of the agent": ("metrics.md", r"\w+"),
    "MBeans": ("mbeans.md", r"(?<= )\w+"),
    "properties": ("settings.md", r"[\w.-]+"),
    "options of the agent": ("settings.md", r"\S+"),
    "environment variables": ("settings.md", r"\S+"),
    "commands": ("command-line.md", r".+(?<! -h)(?<! -V)$"),
    "addresses of the endpoint": ("endpoints.md", r"(?<= ).+"),
    "addresses of the agent": ("endpoints.md", r"(?<= ).+"),
    "views and parameters": ("endpoints.md", r".+"),
    "headers": ("endpoints.md", r".+"),
    "events of Flight Recorder": ("mbeans.md", r"\S+"),
    "functions of the library": ("c-api.md", r"\bmallometer_\w+"),
}


def setting_of(section, name):
    """The name under which the table of settings has a property, an option or a variable."""
    kind = {"properties": "property", "options of the agent": "option", "environment variables": "variable"}[section]
    return next((each["name"] for each in all_settings() if each[kind] == name), name)


def unnamed():
    """Public names that the page does not have."""
    for section, (page, pattern) in NAMED.items():
        text = read(REFERENCE / page)
        for name in dict.fromkeys(match[0] for line in public(section) if (match := re.search(pattern, line))):
            if section == "commands" and " -" in name:
                command, option = re.fullmatch(r"mallometer ?(.*?) ?(-\S+)", name).groups()
                part = text.split(f"### {' '.join(['mallometer', command]).strip()}\n", 1)[-1].split("\n### ", 1)[0]
                missing = option not in part
            elif section in ("properties", "options of the agent", "environment variables"):
                missing = f"| `{setting_of(section, name)}` |" not in text
            elif section == "views and parameters" and name.startswith("?"):
                key, value = name[1:].split("=")
                missing = f"`{value}`" not in text or f"`{key}`" not in text
            else:
                missing = not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w-])", text)
            if missing:
                yield f"docs/reference/{page} does not name {name} ([{section}] of docs/public-names.txt)"


def main(arguments):
    write = "--write" in arguments
    faults = []
    for page in sorted(REFERENCE.glob("*.md")):
        text = read(page)
        try:
            made = PART.sub(lambda mark: mark[1] + PARTS[mark[2]]() + mark[3], text)
        except Missing as missing:
            faults.append(f"{page.relative_to(REPOSITORY)}: {missing}")
            continue
        if made != text and write:
            page.write_text(made, encoding="utf-8")
        elif made != text:
            faults.append(f"{page.relative_to(REPOSITORY)} is not what the code generates: run docs/site/reference.py --write")
    faults += unnamed()
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
