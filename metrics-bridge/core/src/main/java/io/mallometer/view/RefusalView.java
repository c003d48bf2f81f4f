package io.mallometer.view;

import io.mallometer.model.Figure;

/** The reason for the refusal of a request. */
public record RefusalView(@Figure("What is wrong, and what would be right") String reason)
    implements View {}
