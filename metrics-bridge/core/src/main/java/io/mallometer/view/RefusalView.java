package io.mallometer.view;

/**
 * Why a request has no other answer.
 *
 * @param reason what is wrong, and what would be right
 */
public record RefusalView(String reason) implements View {}
