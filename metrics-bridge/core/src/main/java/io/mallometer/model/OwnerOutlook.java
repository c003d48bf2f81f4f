package io.mallometer.model;

/**
 * What a search for the Java objects that hold native memory would do now.
 *
 * @param pauseSeconds for how long its first walk would stop the program, estimated
 * @param refusal why it would be refused; empty if it would not
 */
public record OwnerOutlook(double pauseSeconds, String refusal) {}
