#!/usr/bin/env python3
"""Writes the generated parts of docs/reference, and checks that they and the pages name everything that is public.

    docs/site/reference.py            prints what differs or is missing, and fails then
    docs/site/reference.py --write    writes the generated parts

A generated part stands between <!-- generated: NAME --> and <!-- end -->. Its sources are the code: the list of meters
(Meter.java), the published components of records (@Figure), the MBeans' descriptions (Described.java), the list of settings (Setting.java), the help of the command line,
mallometer.h, and the Javadoc of public types. The starter and the agent have to be built. What is public is in
docs/public-names.txt, which tests of each module compare with what running services show.
"""

import collections
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


def listed(heading, entries):
    """A heading with a line for each entry below it."""
    return "\n" + "\\\n".join([heading, *entries]) + "\n"


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


def exit_reasons():
    """The reasons for the end of a run. A process that tests start has only some of them."""
    oom = re.search(r'String OOM = "(\w+)"', read(CORE / "model/PreviousRun.java"))[1]
    source = read(CORE / "internal/history/ExitDiagnosis.java").split("String reason() {", 1)[1].split("};", 1)[0]
    return [oom if reason == "PreviousRun.OOM" else reason.strip('"') for reason in re.findall(r"-> (.+);", source)]


def micrometer_name(series):
    """The name that docs/reference/metrics.md tells readers to derive from that of a series."""
    return re.sub(r"_(bytes|seconds|ratio)$", "", series.removesuffix("_total")).replace("_", ".")


# What holds for scopes and threads only, which have no series.
OF_PARTS = re.compile(r"[;,] (?:also |in |within |and |unknown )?(?:within |for |in )?a (?:scope|thread)\b[^.;]*|(?<=; always 1), with the tags [\w, ]*")


def metrics():
    """A row for each figure that a series shows, with the attribute of an MBean that shows it too."""
    tags = tags_of(public("series"))
    shown = {series_name(each["name"], each["type"], each["unit"]): each for each in meters() if each["name"]}
    rows = []
    for name, each in sorted(shown.items()):
        labels = tags.pop(name, None)
        for suffix in ("_bucket", "_count", "_sum") if each["type"] == "histogram" else ():
            labels = tags.pop(name + suffix, {}) | (labels or {})
        if labels is None:
            raise Missing(f"{name} is a meter, and docs/public-names.txt does not know the series")
        if micrometer_name(name) != each["name"]:
            raise Missing(f"the name of {name} in Micrometer, {each['name']}, cannot be derived as docs/reference/metrics.md says")
        if name == "mallometer_previous_exit_timestamp_seconds":
            labels["reason"] = exit_reasons()
        text = ", ".join(
            f"`{key}`" + ("" if "*" in values else ": " + ", ".join(f"`{value}`" if value else "none" for value in values))
            for key, values in sorted(labels.items())
        )
        attribute = f"`{each['attribute']}`" if "attribute" in each else ""
        attribute += f" of `{each['bean']}`" if each.get("bean", "NativeMemory") != "NativeMemory" else ""
        shape = "; ".join(filter(None, ("histogram" if each["type"] == "histogram" else "", text, attribute)))
        rows.append(f"`{name}`" + (f" ({shape})" if shape else "") + f": {cell(OF_PARTS.sub('', each['meaning']))}")
    if tags:
        raise Missing(f"series without a meter: {', '.join(sorted(tags))}")
    return "\n" + "\\\n".join(rows) + "\n\n"


def mbeans():
    """The attributes that are no figures of series, the operations and the notifications of each MBean."""
    described, figures_of_series = {}, {}
    source = read(CORE / "jmx/Described.java")
    for bean, body in re.findall(r"interface Of(\w+) \{(.*?)\n  \}\n", source, re.S):
        for text, name in re.findall(r"@Description\((?:\s*value =)?" + LITERALS + r"(?:,\s*rows = [\w.]+)?\)\s+(?:@\w+(?:\([^)]*\))?\s+)*[\w<>?, .\[\]@]+? (\w+)\(", body):
            described[bean, re.sub(r"^(get|is)(?=[A-Z])", "", name)] = joined(text)
    for each in meters():
        if "attribute" in each:
            described[each["bean"], each["attribute"]] = each["meaning"]
            if each["name"]:
                figures_of_series.setdefault(each["bean"], []).append(each["attribute"])
    fields = {meaning: f"`{name}` of [{record}](endpoints.md#fields)" for record, name, _, meaning, _ in figures()}
    rows, lacking = {}, []
    for line in public("MBeans"):
        bean, name, kind = re.fullmatch(r"io\.mallometer:type=(\w+) (.+?)(?:: (\S+))?", line).groups()
        if name.startswith("notification "):
            rows.setdefault(bean, {})[name] = f"notification `{name.split()[1]}`"
            continue
        top = re.match(r"\w+", name)[0]
        signature = re.search(r"\(.*?\)", name)
        meaning = cell(described.get((bean, top)) or described.get((bean, top[0].upper() + top[1:])) or described.get(("Each", top), ""))
        if not meaning and (bean, top) not in lacking:
            lacking.append((bean, top))
        if top not in figures_of_series.get(bean, ()) and ("Each", top) not in described:
            rows.setdefault(bean, {})[top] = f"`{top}{signature[0] if signature else ''}`: {fields.get(meaning, meaning)}"
    if lacking:
        raise Missing("no description of " + ", ".join(f"{bean}.{name}" for bean, name in lacking))
    return "".join(listed(f"**{bean}**", [of_bean[name] for name in sorted(of_bean)]) for bean, of_bean in sorted(rows.items())) + "\n"


@functools.cache
def all_settings():
    """The rows of the list of settings, Setting.java."""
    return run_with_core("Settings.java")


READERS = {
    "ALL": "The starter and the agent",
    "STARTER": "The starter alone",
    "AGENT": "The agent alone",
    "LIBRARY": "The library and the commands, as variables only",
    "COMMANDS": "The library and the commands, as variables only",
}


@functools.cache
def figures():
    """The record, name, unit and meaning of each component that the code publishes, and whether the component's fields stand in its
    place. The fields of a record's own parts are those of the record."""
    whole = {part: record for record, _, _, _, _, part in stated_figures() if part}
    return [(whole.get(record, record), name, unit, meaning, inline) for record, name, unit, meaning, inline, part in stated_figures() if not part]


def stated_figures():
    """Yields figures() as the code states them, with the kind of a record's own part whose fields stand in its place."""
    for path in sorted([*(CORE / "model").glob("*.java"), *(CORE / "view").glob("*.java")]):
        source = read(path)
        for found in re.finditer(r"@Figure\((?:\s*value =)?" + LITERALS + r"([^()]*)\)", source):
            indent = found.start() - source.rfind("\n", 0, found.start()) - 1
            record = [name for spaces, name in re.findall(r"^( *)public record (\w+)", source[: found.start()], re.M) if len(spaces) < indent][-1]
            unit = re.search(r"unit = (?:Figure\.Unit\.)?(\w+)", found[2])
            kind, name = re.match(r"\s*(?:public )?([\w.<>?@, \[\]]+?)\s(\w+)\s*[,()]", source[found.end() :]).groups()
            inline = "inline = true" in found[2]
            part = kind if inline and re.search(rf"^ +public record {kind}\b", source, re.M) else ""
            yield record, name, unit[1].lower().replace("_", " ") if unit else "", joined(found[1]), inline, part


# What follows the first clause of a field's meaning: the page says once what an unknown field is, and the MBeans have the whole text.
REST = re.compile(r"(?:; |\. |, (?:unknown|absent|empty|null)\b).*")


# A meaning of at most so many words says no more than the field's name.
SAYS_NO_MORE = 5

# Objects that no view answers with, and that docs/reference/scopes.md describes.
ELSEWHERE = {"ScopeCounts"}


def json_fields():
    """A list of the fields of each object. A field that shows the figure of a series refers to the series."""
    kinds = dict((record, name) for name, record in re.findall(r'Map\.entry\("([^"]+)", ([\w.]+)\.class\)', read(CORE / "view/Views.java")))
    series = {each["meaning"]: series_name(each["name"], each["type"], each["unit"]) for each in meters() if each["name"]}
    objects = {}
    for record, name, unit, meaning, inline in figures():
        if record in ELSEWHERE:
            continue
        named = unit in ("", "count") or all(word.lower() in name.lower() for word in unit.split() if word not in ("per", "second", "hour"))
        text = f"`{series[meaning]}`" if meaning in series else cell(REST.sub("", meaning))
        objects.setdefault(record, []).append(f"`{name}`" + (" (its fields)" if inline else "") + (f": {text}" if re.search(r"[`\d]", text) or len(text.split()) > SAYS_NO_MORE else "") + ("" if named else f" ({unit})"))
    parts = [listed(f"**{record}**" + (f" (`{kinds[record]}`)" if record in kinds else ""), sorted(fields)) for record, fields in sorted(objects.items())]
    return "".join(parts) + "\n"


def settings():
    if not METADATA.exists():
        raise Missing(f"build the starter first: {METADATA.relative_to(REPOSITORY)} is missing")
    read_by = {}

    def add(reader, name, values, default, meaning):
        values = "" if values in ("true or false", "boolean") else values.replace("the path of a file", "a path")
        read_by.setdefault(reader, []).append(f"`{name}` ({'; '.join(filter(None, (values, f'`{default}`' if default else '')))}): {cell(meaning)}")

    for each in all_settings():
        add(READERS[each["reader"]], each["name"], each["values"], each["default"], each["meaning"])
    for each in json.loads(read(METADATA))["properties"]:
        if not each["name"].startswith("mallometer."):
            add("Spring Boot", each["name"], each["type"].rsplit(".", 1)[-1].lower(), str(each.get("defaultValue", "")).lower(), each.get("description", ""))
    return "".join(f"\n### {reader}\n\n" + "\\\n".join(settings) + "\n" for reader, settings in read_by.items()) + "\n"


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


OPTION = re.compile(r"^ {2,6}((?:-\w, +)?--?[\w-]+(?:=\S+)?|\[?[A-Z][A-Z|.]+\]?(?:\.\.\.)?)(?: {2,}(.*))?$")
# Options that every command has.
EVERY_COMMAND = ("--help", "--version")


def help_parts(text):
    """The description of a command's help, and a pair of name and meaning for each parameter and option."""
    text = re.sub(r"^Usage: .*\n(?: {11,}.*\n)*", "", text.split("\nCommands:\n", 1)[0] + "\n")
    description, options = [], []
    for line in text.splitlines():
        if found := OPTION.match(line):
            options.append([found[1], found[2] or ""])
        elif options:
            before = options[-1][1]
            options[-1][1] = before + ("" if before.endswith(("*.", "HOST:", "NAMES[,")) or not before else " ") + line.strip()
        else:
            description.append(line.strip())
    return " ".join(description), options


def commands():
    names = [line.split()[1:] for line in public("commands") if " -" not in line]
    with concurrent.futures.ThreadPoolExecutor(2) as together:
        texts = [text for text, _ in together.map(help_of, names)]
    helps = {" ".join(["mallometer", *name]): help_parts(text) for name, text in zip(names, texts, strict=True)}
    counted = collections.Counter((name, meaning) for _, options in helps.values() for name, meaning in options)
    shared = dict(each for each, times in counted.items() if times > 1)
    parts = ["\n" + "\\\n".join(f"`{name}`: {cell(meaning)}" for name, meaning in sorted(shared.items())) + "\n"]
    for command, (description, options) in helps.items():
        own = [(name, meaning) for name, meaning in options if meaning and shared.get(name) != meaning and name.split(", ")[-1] not in EVERY_COMMAND]
        took = [name.split("=")[0].split(", ")[-1] for name, meaning in options if shared.get(name) == meaning and name.startswith("-")]
        took = [name for name in took if name not in EVERY_COMMAND]
        arguments = " ".join(name for name, _ in options if not name.startswith("-"))
        parts.append(f"\n### {command} {arguments}".rstrip() + f"\n\n{cell(description)}" + (f" Takes {', '.join(f'`{name}`' for name in took)}." if took else "") + "\n")
        if own:
            parts.append("\n" + "\\\n".join(f"`{name}`: {cell(meaning)}" for name, meaning in own) + "\n")
    return "".join(parts) + "\n"


def first_sentence(comment):
    text = re.sub(r"\{@\w+ ([^}]*)\}", r"\1", re.sub(r"\n?\s*\*\s?", " ", comment))
    text = re.split(r"<p>|\s@\w|<pre>|<ul>", text, maxsplit=1)[0]
    return re.split(r"(?<=\.)\s", re.sub(r"<[^>]*>", "", text).strip(), maxsplit=1)[0].removesuffix(":")


# Packages and types whose objects the pages of endpoints and MBeans describe, and the configurations that Spring Boot finds by itself.
DESCRIBED_ELSEWHERE = re.compile(r"io\.mallometer\.(?:model|view|jmx|page)\.|io\.mallometer\.spring\.\w*(?:Configuration|Extension|Endpoint)$")


def java_api():
    published = {record for record, *_ in figures()}
    packages = {}
    for module in CORE, REPOSITORY / "spring-starter/src/main/java/io/mallometer/spring":
        for path in sorted(module.rglob("*.java")):
            if "internal" in path.relative_to(module).parts or path.name == "package-info.java":
                continue
            match = re.search(
                r"/\*\*((?:(?!\*/).)*)\*/\s*(?:@\w+(?:\((?:[^()]|\([^()]*\))*\))?\s*)*"
                r"public (?:(?:abstract|final|sealed|non-sealed) )*(?:class|record|interface|enum|@interface) (\w+)",
                read(path),
                re.S,
            )
            if match:
                package = str(path.parent.relative_to(next(p for p in path.parents if p.name == "java"))).replace("/", ".")
                if match[2] not in published and not DESCRIBED_ELSEWHERE.match(f"{package}.{match[2]}"):
                    packages.setdefault(package, []).append(f"`{match[2]}`: {cell(first_sentence(match[1]))}")
    return "".join(listed(f"**{package}**", types) for package, types in packages.items()) + "\n"


def c_api():
    text = read(HEADER) + read(HEADER.with_name("mallometer_optional.h"))
    names = [match[1] for match in re.finditer(r"^(?:MALLOMETER_API|static inline) [^;{]*?\b(mallometer_\w+)\(", text, re.M)]
    return "\n" + ", ".join(f"`{name}()`" for name in dict.fromkeys(names)) + "\n\n"


PARTS = {
    "metrics": metrics,
    "mbeans": mbeans,
    "json": json_fields,
    "settings": settings,
    "commands": commands,
    "exit-codes": exit_codes,
    "java-api": java_api,
    "c-api": c_api,
}

# Where the names of a section have to stand, and what of a line is the name.
NAMED = {
    "series": ("metrics.md", r"\w+?(?=(?:_bucket|_count|_sum)?[{ ])"),
    "series of the starter": ("metrics.md", r"\w+?(?=(?:_count|_max|_sum)?[{ ])"),
    "series of the agent": ("metrics.md", r"\w+"),
    "MBeans": ("metrics.md", r"(?<= )\w+"),
    "properties": ("settings.md", r"[\w.-]+"),
    "options of the agent": ("settings.md", r"\S+"),
    "environment variables": ("settings.md", r"\S+"),
    "commands": ("command-line.md", r".+(?<! -h)(?<! -V)$"),
    "addresses of the endpoint": ("endpoints.md", r"(?<= ).+"),
    "addresses of the agent": ("endpoints.md", r"(?<= ).+"),
    "views and parameters": ("endpoints.md", r".+"),
    "headers": ("endpoints.md", r".+"),
    "events of Flight Recorder": ("metrics.md", r"\S+"),
    "functions of the library": ("api.md", r"\bmallometer_\w+"),
}


def setting_of(section, name):
    """The name under which the table of settings has a property, an option or a variable."""
    kind = {"properties": "property", "options of the agent": "option", "environment variables": "variable"}[section]
    return next((each["name"] for each in all_settings() if each[kind] == name), name)


def unnamed():
    """Public names that the page does not have."""
    for section, (page, pattern) in NAMED.items():
        text = read(REFERENCE / page)
        shared = text.split("<!-- generated: commands -->", 1)[-1].split("\n### ", 1)[0]
        for name in dict.fromkeys(match[0] for line in public(section) if (match := re.search(pattern, line))):
            if section == "commands" and " -" in name:
                command, option = re.fullmatch(r"mallometer ?(.*?) ?(-\S+)", name).groups()
                named = re.escape(" ".join(["mallometer", command]).strip())
                part = (re.split(rf"### {named}(?= [A-Z\[]|\n)", text, maxsplit=1) + [""])[1].split("\n### ", 1)[0]
                missing = not re.search(rf"`(?:-\w, )?{re.escape(option)}\b|`{re.escape(option)}, ", part + shared)
            elif section in ("properties", "options of the agent", "environment variables"):
                missing = f"`{setting_of(section, name)}` (" not in text
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
