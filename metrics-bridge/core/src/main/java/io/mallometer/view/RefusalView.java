package io.mallometer.view;

/**
 * Reason for the refusal of a request.
 *
 * @param reason what is wrong, and what would be right
 */
public record RefusalView(String reason) implements View {}
