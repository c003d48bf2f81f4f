package io.mallometer.model;

/**
 * Something that could be done about memory, and why.
 *
 * @param topic what it is about: {@code arenas}, {@code trim}, {@code trim-threshold}, {@code
 *     decay}, {@code allocator}
 * @param reason what was found, in words and numbers
 * @param setting what to set, literally
 */
public record Advice(String topic, String reason, String setting) {}
