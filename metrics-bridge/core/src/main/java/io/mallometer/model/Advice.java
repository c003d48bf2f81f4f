package io.mallometer.model;

/**
 * Advice on memory: an action and its reason.
 *
 * @param topic what it is about: {@code arenas}, {@code trim}, {@code trim-threshold}, {@code
 *     decay}, {@code allocator}, {@code huge-pages}
 * @param reason what was found, in words and numbers
 * @param setting what to set, literally
 */
public record Advice(String topic, String reason, String setting) {}
