package io.mallometer.view;

import io.mallometer.model.Figure;

/** The body of a refusal: its reason. */
public record RefusalView(@Figure("What is wrong, and what would be right") String reason)
    implements View {}
