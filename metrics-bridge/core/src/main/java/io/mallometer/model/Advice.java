package io.mallometer.model;

/** Advice on memory: an action and its reason. */
public record Advice(
    @Figure("What it is about: arenas, trim, trim-threshold, decay, allocator, huge-pages")
        String topic,
    @Figure("What was found, in words and numbers") String reason,
    @Figure("What to set, literally") String setting) {}
